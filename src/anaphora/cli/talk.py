"""Printing: messages on standard error, results on standard output, and text of others on both.

Standard error is for people: when it is gone (a closed terminal, a full disk behind ``tee``), the command goes on.

Runs, corpora and file names may come from anybody, and control characters in them would act on a terminal: move its
cursor, change its title, reverse the order of a line. So within ``shown_safely`` everything that is printed as text is
``visible`` text. Only data for another program is exact (``put``), where no terminal reads it.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer

from anaphora.formats.json_text import figures_as_json

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)
"""C0 and C1, separators of lines, what overrides the direction of text, and bytes of names that are not UTF-8."""


def visible(text: str) -> str:
    """Return a text with its control characters written out as JSON does, tabs and line ends left as they are."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class WrappedStream:
    """A ``raw`` stream, of which subclasses change some methods."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


class _Screen(WrappedStream):
    """A standard stream on which all text is visible text."""

    def write(self, text: str) -> int:
        self.raw.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        self.write("".join(lines))


@contextmanager
def shown_safely() -> Iterator[None]:
    """Make whatever is printed within it, on standard output and standard error, visible text."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Screen(raw_of(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def raw_of(stream: TextIO) -> TextIO:
    """Return the stream behind a standard stream, for what controls a terminal."""
    return stream.raw if isinstance(stream, _Screen) else stream


def put(content: bytes) -> None:
    """Print data on standard output at once: byte for byte, but visible text on a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(content.decode("utf-8", "replace"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    sys.stdout.flush()


def show(result: object = "", end: str = "\n") -> None:
    """Print a result on standard output."""
    typer.echo(f"{result}{end}", nl=False)


def print_json(value: Any) -> None:
    """Print a result as one line of JSON on standard output."""
    print(figures_as_json(value), flush=True)


def has_styles(stream: TextIO) -> bool:
    """True if what is printed may be bold or coloured: on a terminal, unless ``NO_COLOR`` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def heading(text: str, end: str = "\n") -> None:
    """Print a heading on standard output, bold on a terminal."""
    begin, stop = ("\x1b[1m", "\x1b[0m") if has_styles(sys.stdout) else ("", "")
    raw_of(sys.stdout).write(f"{begin}{visible(text)}{stop}{end}")


def console(stream: TextIO, **options: Any) -> "Console":
    """Return a console for tables, colours and bars on a stream, whose text is visible text."""
    from rich.console import Console

    class Visible(Console):
        def render(self, renderable: Any, options: Any = None) -> Any:
            for part in super().render(renderable, options):
                yield part if part.control else part._replace(text=visible(part.text))

    colours: Any = "auto" if has_styles(stream) else None
    return Visible(file=raw_of(stream), highlight=False, color_system=colours, **options)


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
        give_up(sys.stderr)
        raise


def give_up(stream: TextIO) -> None:
    """Let what is written to a standard stream go nowhere, what it still holds at the interpreter's exit too."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
