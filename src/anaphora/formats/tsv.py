"""Pairs in one file: source, a tab, target; without quoting, unless ``Layout`` says so, a tab in a field is a fault.

Empty columns at the end of a line do not count, and a first line that names its columns is no pair.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines
from anaphora.formats.table_columns import Column, TableColumns, is_heading, is_reversed
from anaphora.wording import inflect


class Row(NamedTuple):
    """One pair and where it stood."""

    line: int
    """Number of the line, from 1."""
    source: str
    target: str
    trimmed: bool = False
    """True if empty columns at its end were left out."""


class Layout(NamedTuple):
    """Columns and quoting of the pairs in a table."""

    columns: tuple[int | str, int | str] | None = None
    """Columns of source and target, counted from 1 or named as in the first line; None for the only two."""
    quoted: bool = False
    """True if cells may stand in double quotes, with those inside doubled."""

    def split(self, line: str) -> list[str]:
        """Return all columns of a line; none if its quotes are wrong."""
        if not self.quoted:
            return line.split("\t")
        try:
            return next(csv.reader([line], delimiter="\t", strict=True), [""])
        except csv.Error:
            return []

    def cells(self, line: str, columns: tuple[int, int] | None) -> tuple[list[str], bool]:
        """Return the cells of a line, two if it is a pair, and True if empty ones at its end were left out."""
        every = cells = self.split(line)
        while len(cells) > 2 and not cells[-1]:
            cells = cells[:-1]
        if columns is None:
            return cells, len(every) > 2
        return [cells[column - 1] for column in columns] if len(cells) >= max(columns) else cells[:1], False

    def column_numbers(self, path: Path, first: str) -> tuple[int, int] | None:
        """Return the columns as numbers; DataError if the first line of the table has no column of a name."""
        numbers = [column for column in self.columns or () if isinstance(column, int)]
        if self.columns is None or len(numbers) == 2:
            return (numbers[0], numbers[1]) if numbers else None
        found = TableColumns(((), ()), self.columns).find(self.split(first), f"{path}:1")
        return (found[0][0] + 1, found[0][1] + 1) if found else None


_BETWEEN = re.compile("-to-|[^A-Za-z]")
"""Characters that stand between languages in a name."""
HEADING = "a heading"
"""Why a first line that names its columns is rejected."""


Rejected = Callable[[int, str], None]
"""Receives the line of what is no pair, and why it is none."""


def ignore(line: int, why: str) -> None:
    """Drop the line: the default for lines that are rejected."""


PLAIN = Layout()
"""Two columns without quotes."""


def languages_of_heading(path: Path, layout: Layout = PLAIN) -> tuple[str, str]:
    """Return the two languages that the first line of a table names, as codes or as the name has it.

    Else empty strings.

    Raises DataError where it has none of the columns that ``layout`` names.
    """
    first = next(read_lines(path), "")
    cells, _ = layout.cells(first, layout.column_numbers(path, first))
    named = [Column.of(cell).name for cell in cells]
    names = [cell.strip() if cell.strip().casefold() == name else name for cell, name in zip(cells, named, strict=True)]
    return (names[0], names[1]) if len(names) == 2 and names[0] != names[1] else ("", "")


def is_named_backward(path: Path, sides: tuple[str, str]) -> bool:
    """True if the name of a file has the two languages in the other order alone, as ``en-ka.tsv`` has ka and en."""
    first, second, name = (_BETWEEN.sub("-", text) for text in (*sides, f"-{path.name}-"))
    return bool(first and second) and f"-{second}-{first}-" in name and f"-{first}-{second}-" not in name


def read_pairs(
    path: Path,
    layout: Layout = PLAIN,
    *,
    sides: tuple[str, str] = ("", ""),
    rejected: Rejected = ignore,
    choice: str = "data.columns = [{}]",
) -> Iterator[Row]:
    """Yield the pairs of a table; ``rejected`` receives the line number of every other line and why it is none.

    That is ``HEADING`` for a first line that names the columns, else how many columns there are; ``sides`` are the
    languages of source and target, and ``choice`` is how errors say that two columns are chosen.

    Raises DataError as ``read_lines`` does, for a first line that has none of the names in ``layout``, for one or a
    file name that has the target first, and when no line at all has the columns that ``layout`` asks for.
    """
    found = wrong = 0
    example = ""
    columns: tuple[int, int] | None = None
    for number, line in enumerate(read_lines(path), 1):
        columns = layout.column_numbers(path, line) if number == 1 else columns
        cells, trimmed = layout.cells(line, columns)
        named = layout.columns is not None and any(isinstance(column, str) for column in layout.columns)
        if number == 1 and (named or is_heading(cells, sides)):
            if not columns and is_reversed(cells, sides):
                raise DataError(
                    f"{path}:1 says that its columns are {cells[0]} and {cells[1]}, target before source: set "
                    f"{choice.format('2,1')}, or swap the languages."
                )
            rejected(number, HEADING)
            continue
        if number == 1 and layout.columns is None and is_named_backward(path, sides):
            raise DataError(
                f"{path} is named {sides[1]}-{sides[0]}, but is to be read from {sides[0]} to {sides[1]}: set "
                f"{choice.format('2,1')} where {sides[1]} comes first, or name its columns in a first line."
            )
        if len(cells) == 2:
            found += 1
            yield Row(number, cells[0], cells[1], trimmed)
        else:
            wrong += 1
            example = example or (f"line {number} has {len(cells)}" if line.strip() else "")
            rejected(number, inflect(len(cells), "column"))
    if wrong and not (found or example):
        raise DataError(f"{path} has blank lines alone: write a source, a tab and its target on each line.")
    if wrong and not found:
        raise DataError(
            f"{path} should have two columns with a tab between them, but {example}, and no line has two: name those "
            f"of source and target, {choice.format('1,2')} for the first and the second."
        )


def has_two_columns(path: Path) -> bool:
    """True if a file looks like a table of pairs, whatever its name: of ten first lines nine have text around a tab.

    Raises DataError as ``read_lines`` does.
    """
    first = [[cell.strip() for cell in line.split("\t")] for line in islice(read_lines(path), 20)]
    return len(first) > 2 and 10 * sum(len(cells) != 2 or not all(cells) for cells in first) <= len(first)


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
