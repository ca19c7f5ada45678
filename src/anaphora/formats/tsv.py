"""Pairs in one file: source, a tab, target; without quoting, unless ``Layout`` says so, a tab in a field is a fault.

Empty columns at the end of a line do not count, and a first line that names its columns is no pair.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines


class Row(NamedTuple):
    """One pair and where it stood."""

    line: int
    """From 1."""
    source: str
    target: str


class Layout(NamedTuple):
    """Where the pairs stand in a table."""

    columns: tuple[int, int] | None = None
    """Those of source and target, counted from 1; None for the only two."""
    quoted: bool = False
    """Whether cells may stand in double quotes, with those inside doubled."""

    def cells(self, line: str) -> list[str]:
        """The source and the target of a line; where it has not both, all of its columns."""
        cells = line.split("\t")
        if self.quoted:
            try:
                cells = next(csv.reader([line], delimiter="\t", strict=True), [""])
            except csv.Error:
                return []
        while len(cells) > 2 and not cells[-1]:
            cells.pop()
        if not self.columns:
            return cells
        return [cells[column - 1] for column in self.columns] if len(cells) >= max(self.columns) else cells[:1]


HEADING = 0
"""The number of columns that is reported of a first line that names them."""

_LANGUAGES = (
    "english german french spanish italian portuguese dutch czech polish russian ukrainian turkish arabic hebrew hindi "
    "chinese japanese korean greek finnish swedish danish norwegian hungarian romanian bulgarian"
)
_NAMES = frozenset(("source", "target", "src", "tgt", "trg", "sentence1", "sentence2", *_LANGUAGES.split()))


def is_heading(cells: Sequence[str]) -> bool:
    """Whether two cells name what stands below them: their language, or their side."""
    first, second = (cell.strip().casefold() for cell in cells)
    return first != second and {first, second} <= _NAMES


def ignore(line: int, columns: int) -> None:
    """Drop the line: the default for lines that are rejected."""


PLAIN = Layout()
"""Two columns without quotes."""


def read_pairs(path: Path, layout: Layout = PLAIN, *, rejected: Callable[[int, int], None] = ignore) -> Iterator[Row]:
    """The pairs of a table; ``rejected`` receives the line number and the number of columns of every other line.

    The number is ``HEADING`` for a first line that names the columns. Raises DataError as ``read_lines`` does, and when
    no line at all has the columns that ``layout`` asks for.
    """
    found = wrong = 0
    example = ""
    for number, line in enumerate(read_lines(path), 1):
        columns = layout.cells(line)
        if number == 1 and len(columns) == 2 and is_heading(columns):
            rejected(number, HEADING)
        elif len(columns) == 2:
            found += 1
            yield Row(number, *columns)
        else:
            wrong += 1
            example = example or f"line {number} has {len(columns)}"
            rejected(number, len(columns))
    if wrong and not found:
        raise DataError(
            f"{path} should have two columns with a tab between them, but {example}, and no line has two: name those "
            f"of source and target, data.columns = [1, 2] for the first and the second."
        )


def split_pairs(lines: Iterable[str], where: str) -> Iterator[tuple[str, str]]:
    """Source and translation of lines that came from ``where``; DataError for a line without two columns."""
    for number, line in enumerate(lines, 1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise DataError(
                f"{where}:{number} should be a source and its translation with a tab between them, but its columns are "
                f"{len(columns)}: put both into one file of two columns."
            )
        yield columns[0], columns[1]
