"""The command line: parse, call, print. One file a verb; everything it does, three lines of Python can do."""

import signal

from anaphora.cli.talk import complain


def main() -> int:
    """Run this process's command line, see ``cli.app``; Ctrl-C ends it quietly from the first moment on."""
    try:
        from anaphora.cli import app  # the verbs and their parser take a while

        return app.main()
    except KeyboardInterrupt:
        complain("interrupted.")
        return 128 + signal.SIGINT
