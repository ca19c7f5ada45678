"""What the command line says on standard error, beside its results.

Standard error is for people: when it is gone (a closed terminal, a full disk behind ``tee``), the command goes on.
"""

import os
import sys
from contextlib import suppress


def say(text: str) -> None:
    """Print one line on standard error, if it can still be written to."""
    with suppress(OSError):
        write(text)


def complain(text: str) -> None:
    """Print the one line that an error ends in; nothing for one that another process reports."""
    if text:
        say(f"anaphora: {' '.join(text.split())}")


def write(text: str) -> None:
    """Print one line on standard error; OSError where that fails, and from then on what is written goes nowhere."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        give_up_stderr()
        raise


def give_up_stderr() -> None:
    """Let what is written to standard error go nowhere, what it still holds at the interpreter's exit too."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
