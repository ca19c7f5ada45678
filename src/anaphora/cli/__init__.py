"""The command line: parse, call, print. One file a verb; everything it does, three lines of Python can do."""

import os
import signal
import sys

from anaphora.cli import garbage


def main() -> int:
    """Run this process's command line, see ``cli.app``; Ctrl-C ends it quietly from the first moment on."""
    garbage.rarely()
    try:
        from anaphora.cli import app  # the verbs and their parser take a while

        return app.main()
    except KeyboardInterrupt:
        os.write(sys.stderr.fileno(), b"anaphora: interrupted.\n")
        return 128 + signal.SIGINT
    finally:
        garbage.never()
