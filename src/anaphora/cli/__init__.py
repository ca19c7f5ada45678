"""The command line: parse, call, print. One file a verb; everything it does, three lines of Python can do."""
