"""Options for what translations must begin and end with, and the lines that ask for it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from anaphora.cli.files import given_lines
from anaphora.cli.options import search_option
from anaphora.options import Excludes

if TYPE_CHECKING:
    from anaphora.tasks.translation import Framed


@dataclass(frozen=True)
class Framing:
    """What the translations of a text begin and end with."""

    prefixes: Annotated[
        Path | None, search_option(metavar="FILE", help="Beginnings of the translations, one a line, empty for none.")
    ] = None
    suffixes: Annotated[
        Path | None, search_option(metavar="FILE", help="Ends of the translations, one a line, empty for none.")
    ] = None

    conflicts: ClassVar = (Excludes("--prefixes --suffixes", "--memory", "What comes from a memory is not framed"),)

    @property
    def read(self) -> list[Path | None]:
        """The files that are read for it."""
        return [self.prefixes, self.suffixes]

    def over(self, lines: Iterable[str], faults: list[str]) -> "Iterator[str | Framed]":
        """The lines, each with its prefix and suffix, which a line after the last of them lacks.

        What is wrong with a file of more lines than the text is put into ``faults``. Errors as for ``given_lines``.
        """
        if not any(self.read):
            yield from lines
            return
        from anaphora.tasks.translation import Framed

        prefixes, suffixes = (repeat("") if file is None else given_lines(str(file)) for file in self.read)
        number = 0
        for number, line in enumerate(lines, 1):  # noqa: B007
            yield Framed(line, next(prefixes, None), next(suffixes, None))
        for file, given in zip(self.read, (prefixes, suffixes), strict=True):
            if file is not None and next(given, None) is not None:
                faults.append(f"{file} has more lines than the text, which has {number:,}: give one for every line.")
