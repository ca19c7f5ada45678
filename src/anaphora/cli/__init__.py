"""The command line: parse, call, print. One file a verb; everything it does, three lines of Python can do."""

import atexit
import gc
import os
import signal
import sys
import threading
from contextlib import suppress

_THRESHOLD = gc.get_threshold()
_RARELY = 200_000
"""New objects before garbage among the newest is looked for while a command imports, which leaves a million objects
and no garbage; with the usual 700 that is a quarter of the time of an import."""


def main() -> int:
    """Run this process's command line, see ``cli.app``, and end the process; Ctrl-C ends it quietly at any moment.

    Returns the exit code where other threads have yet to end.
    """
    gc.set_threshold(_RARELY)
    try:
        from anaphora.cli import app  # the verbs and their parser take a while

        code = app.main()
    except KeyboardInterrupt:
        os.write(sys.stderr.fileno(), b"anaphora: interrupted.\n")
        code = 128 + signal.SIGINT
    finally:
        gc.freeze()  # the end of the process would look through everything once more
    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.current_thread()):
        _end(code)
    return code


def collect_garbage() -> None:
    """Look for garbage as often as Python does, but never in what was imported; call it where the work begins."""
    if gc.get_threshold() != _THRESHOLD:
        gc.freeze()
        gc.set_threshold(*_THRESHOLD)


def _end(code: int) -> None:
    """End the process, but do not take apart what was imported, which takes a tenth of a short command's time."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)
