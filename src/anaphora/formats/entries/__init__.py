"""Formats of translators: entries of a source and a target, read as a stream and written back with gaps filled."""
