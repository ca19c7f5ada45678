"""Options for what translations must begin with, and the lines that ask for it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.files import given_lines
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.tasks.translation import Framed

Prefixes = Annotated[
    Path | None,
    typer.Option(
        "--prefixes",
        metavar="FILE",
        help="Beginnings of the translations, one a line, empty for none.",
        rich_help_panel="Search",
    ),
]


@dataclass(frozen=True)
class Framing:
    """What the translations of a text begin with."""

    prefixes: Prefixes = None

    @property
    def for_lines(self) -> list[str]:
        """The options that were given and are for lines of text, not for documents."""
        return [] if self.prefixes is None else ["--prefixes"]

    def check(self, *, memory: bool) -> None:
        """Raise ConfigError for prefixes of what comes from a memory."""
        if self.prefixes is not None and memory:
            raise ConfigError("What comes from a memory has no given prefix: leave out --memory or --prefixes.")

    def over(self, lines: Iterable[str], faults: list[str]) -> "Iterator[str | Framed]":
        """The lines, each with its prefix, which a line after the last of them lacks.

        What is wrong with a file of more prefixes than lines is put into ``faults``. Errors as for ``given_lines``.
        """
        if self.prefixes is None:
            yield from lines
            return
        from anaphora.tasks.translation import Framed

        prefixes, number = given_lines(str(self.prefixes)), 0
        for number, line in enumerate(lines, 1):  # noqa: B007
            yield Framed(line, next(prefixes, None))
        if next(prefixes, None) is not None:
            faults.append(
                f"{self.prefixes} has more lines than the text, which has {number:,}: give one prefix for every line."
            )
