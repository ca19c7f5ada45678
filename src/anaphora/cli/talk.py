"""What the command line says on standard error, beside its results.

Standard error is for people: when it is gone (a closed terminal, a full disk behind ``tee``), the command goes on.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO


def say(text: str) -> None:
    """Print one line on standard error, if it can still be written to."""
    with suppress(OSError):
        write(text)


def complain(text: str) -> None:
    """Print the one line that an error ends in."""
    say(f"anaphora: {' '.join(text.split())}")


def print_folder(folder: Path) -> None:
    """Print the run folder that was made on standard output; a reader that is gone makes the run no worse."""
    try:
        print(folder, flush=True)
    except OSError as error:
        silence(sys.stdout)
        say(f"Standard output cannot be written to: {error.strerror}.")


def write(text: str) -> None:
    """Print one line on standard error; OSError where that fails, and from then on what is written goes nowhere."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        give_up_stderr()
        raise


def give_up_stderr() -> None:
    """Silence standard error, if it is open."""
    with suppress(OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let what is written to ``stream`` go nowhere, what it still holds at the interpreter's exit too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
