"""Arrays of one dimension that grow beyond memory, and sorting them (external merge sort).

What does not fit in a block lies in files without names, which the system removes with the process that opened them,
even if it is killed. They are mapped, so their pages are the system's to keep or to drop.
"""

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anaphora.errors import refuse_os_errors

Array = np.ndarray[Any, np.dtype[Any]]


def writing_scratch(folder: Path | None) -> AbstractContextManager[None]:
    """Turn an OSError into a DataError that says where temporary files cannot be written."""
    before = f"Temporary files in {folder or tempfile.gettempdir()} cannot be written: "
    return refuse_os_errors(before, ". Make room on that disk, then start again.")


class Growing:
    """An array of one dimension that is appended to and read as a whole: in memory up to ``most`` numbers."""

    def __init__(self, dtype: Any, most: int, folder: Path | None = None) -> None:
        """Files are made in ``folder``, or where the system has temporary files."""
        self._dtype, self._most, self._folder = np.dtype(dtype), most, folder
        self._pieces: list[Array] = []
        self._held, self._written = 0, 0
        self._file: Any = None

    def __len__(self) -> int:
        return self._written + self._held

    def append(self, values: Array) -> None:
        """Add ``values``, which do not change later, at the end; OSError where the disk is full."""
        self._pieces.append(values.astype(self._dtype, copy=False))
        self._held += len(values)
        if self._held > self._most:
            self._write()

    def whole(self) -> Array:
        """All of it, to read and to change; valid as long as the array that is returned, and until more is added."""
        if self._file is None:
            self._pieces = [np.concatenate([np.empty(0, self._dtype), *self._pieces])]
            return self._pieces[0]
        self._write()
        self._file.flush()
        return np.asarray(np.memmap(self._file, self._dtype, "r+", shape=(self._written,)))

    def _write(self) -> None:
        if self._file is None:
            # named by nothing: whoever kills this process need not clean up
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        for piece in self._pieces:
            self._file.write(np.ascontiguousarray(piece).data)
        self._written += self._held
        self._pieces, self._held = [], 0


class SortedRows(NamedTuple):
    """Different rows in ascending order."""

    words: list[Array]
    """The columns that rows are compared by, the first one first."""
    counts: Array
    """The sum over equal rows."""
    values: list[Array]
    """Further columns of a row; equal for equal rows."""


class Sorter:
    """Rows that are added in any order and read in ascending order, equal ones once, in the memory of some blocks."""

    def __init__(self, words: int, values: int, number: Any, block: int, folder: Path | None = None) -> None:
        """Rows of ``words`` whole numbers to compare, a count and ``values`` others of the type ``number``.

        ``block`` rows are sorted at a time.
        """
        self._words, self._block = words, block
        types = [np.dtype(np.int64)] * words + [np.dtype(number)] * (1 + values)
        self._columns = [Growing(dtype, block, folder) for dtype in types]
        self._waiting: list[SortedRows] = []
        self._ends = [0]

    def add(self, rows: SortedRows) -> None:
        """Add rows in any order; OSError where the disk is full."""
        self._waiting.append(rows)
        if sum(len(waiting.counts) for waiting in self._waiting) >= self._block:
            self._close_run()

    def blocks(self) -> Iterator[SortedRows]:
        """Yield all rows; those whose first words are equal lie in one block."""
        if self._waiting:
            self._close_run()
        columns = [column.whole() for column in self._columns]
        runs = [
            [column[begin:end] for column in columns] for begin, end in zip(self._ends, self._ends[1:], strict=False)
        ]
        begins = [0] * len(runs)
        for ends in self._bounds([run[0] for run in runs]):
            slices = [[column[b:e] for column in run] for run, b, e in zip(runs, begins, ends, strict=True)]
            begins = ends
            rows = self._as_rows([np.concatenate(parts) for parts in zip(*slices, strict=True)])
            if len(rows.counts):
                yield _merge_equal(rows) if len(runs) > 1 else rows

    def _bounds(self, firsts: Sequence[Array]) -> Iterator[list[int]]:
        """Yield the end of each block in each of the sorted ``firsts``: about ``_block`` rows in all."""
        if not firsts:
            return
        step = max(1, self._block // len(firsts))
        samples = np.sort(np.concatenate([first[step - 1 :: step] for first in firsts]))
        for cut in np.unique(samples[len(firsts) - 1 :: len(firsts)]):
            yield [int(np.searchsorted(first, cut)) for first in firsts]
        yield [len(first) for first in firsts]

    def _close_run(self) -> None:
        parts = [[*rows.words, rows.counts, *rows.values] for rows in self._waiting]
        self._waiting = []
        run = _merge_equal(self._as_rows([np.concatenate(column) for column in zip(*parts, strict=True)]))
        for column, values in zip(self._columns, [*run.words, run.counts, *run.values], strict=True):
            column.append(values)
        self._ends.append(len(self._columns[0]))

    def _as_rows(self, columns: Sequence[Array]) -> SortedRows:
        words = self._words
        return SortedRows(list(columns[:words]), columns[words], list(columns[words + 1 :]))


def _merge_equal(rows: SortedRows) -> SortedRows:
    """Return rows sorted, and the counts of equal ones added up."""
    order = np.lexsort(rows.words[::-1]) if len(rows.words) > 1 else np.argsort(rows.words[0], kind="stable")
    words = [word[order] for word in rows.words]
    new = np.ones(len(order), dtype=bool)
    new[1:] = False
    for word in words:
        new[1:] |= word[1:] != word[:-1]
    starts = np.flatnonzero(new)
    counts = np.add.reduceat(rows.counts[order].astype(np.int64), starts) if len(starts) else rows.counts
    return SortedRows([word[starts] for word in words], counts, [value[order[starts]] for value in rows.values])
