"""The room for servers; empty as yet."""
