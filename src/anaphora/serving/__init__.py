"""For servers; empty as yet."""
