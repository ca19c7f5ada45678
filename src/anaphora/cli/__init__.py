"""The command line: parse, call, print. One file a verb; everything it does, three lines of Python can do."""

import gc
import os
import signal
import sys


def main() -> int:
    """Run this process's command line, see ``cli.app``; Ctrl-C ends it quietly from the first moment on.

    Garbage is collected once the work begins (``cli.progress.listening``): imports leave a million objects and no
    garbage, and looking through them is a quarter of their time. The end of the process does not look either.
    """
    gc.disable()
    try:
        from anaphora.cli import app  # the verbs and their parser take a while

        return app.main()
    except KeyboardInterrupt:
        os.write(sys.stderr.fileno(), b"anaphora: interrupted.\n")
        return 128 + signal.SIGINT
    finally:
        gc.freeze()
