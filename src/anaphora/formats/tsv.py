"""Pairs in one file: source, a tab, target; no quoting, so a tab inside a field is a fault of its line."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines, write_lines


class Row(NamedTuple):
    """One pair and where it stood."""

    line: int
    """From 1."""
    source: str
    target: str


def ignore(line: int, columns: int) -> None:
    """Drop the line: the default for lines that are rejected."""


def read_pairs(path: Path, *, rejected: Callable[[int, int], None] = ignore) -> Iterator[Row]:
    """The lines of two columns; ``rejected`` is told the line number and the number of columns of every other one.

    Raises DataError as ``read_lines`` does, and when no line at all has two columns.
    """
    found = wrong = 0
    example = ""
    for number, line in enumerate(read_lines(path), 1):
        columns = line.split("\t")
        if len(columns) == 2:
            found += 1
            yield Row(number, *columns)
        else:
            wrong += 1
            example = example or f"line {number} has {len(columns)}"
            rejected(number, len(columns))
    if wrong and not found:
        raise DataError(f"{path} should have two columns with a tab between them, but {example}, and no line has two.")


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


def write_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write pairs as ``read_pairs`` reads them, a tab inside a side as a space; raises DataError as ``write_lines``."""
    write_lines(path, ("\t".join(side.replace("\t", " ") for side in pair) for pair in pairs))
