"""What the command line writes beside its results, where a terminal or a reader may be gone."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO


def write(text: str) -> None:
    """One line on standard error. Raises OSError where it cannot be written."""
    print(text, file=sys.stderr, flush=True)


def say(text: str) -> None:
    """One line on standard error, or none where it cannot be written: that ends no work."""
    with suppress(OSError, ValueError):
        write(text)


def name(folder: Path) -> None:
    """The run folder that is made, on standard output; a reader that is gone makes the run no worse."""
    try:
        print(folder, flush=True)
    except OSError as error:
        silence(sys.stdout)
        say(f"Standard output cannot be written to: {error.strerror}.")


def complain(text: str) -> None:
    """The one line that an error ends in."""
    say(f"anaphora: {' '.join(text.split())}")


def silence(stream: TextIO) -> None:
    """Let nothing be written to ``stream`` any more, not even what it still holds when the interpreter exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def settle() -> None:
    """Let what standard error still holds, and nobody can read, not change the exit code."""
    try:
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)
    except (ValueError, AttributeError):  # it is closed, or always was: None
        pass
