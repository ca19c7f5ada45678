"""What the command line says on standard error, beside its results."""

import sys


def say(text: str) -> None:
    """One line of talk."""
    print(text, file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """The one line that an error ends in."""
    say(f"anaphora: {' '.join(text.split())}")
