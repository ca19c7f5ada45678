"""The command line: parse, call, print. One file a verb; everything it does, three lines of Python can do."""

import atexit
import os
import signal
import sys
import threading
from contextlib import suppress

from anaphora.cli import garbage


def main() -> int:
    """Run this process's command line, see ``cli.app``, and end the process; Ctrl-C ends it quietly at any moment.

    Returns the exit code where other threads have yet to end.
    """
    garbage.rarely()
    try:
        from anaphora.cli import app  # the verbs and their parser take a while

        code = app.main()
    except KeyboardInterrupt:
        os.write(sys.stderr.fileno(), b"anaphora: interrupted.\n")
        code = 128 + signal.SIGINT
    finally:
        garbage.never()
    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        _end(code)
    return code


def _end(code: int) -> None:
    """End the process, but do not take apart what was imported, which takes a tenth of a short command's time."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)
