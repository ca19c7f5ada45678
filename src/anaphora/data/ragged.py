"""Rows of different lengths in one flat array, and counts of the ids in it."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anaphora.data.columns import Column, Integers

_BLOCK = 1 << 20
"""Ids counted at a time, so that an array mapped from a file is never held in memory."""


@dataclass(frozen=True)
class Ragged:
    """Row i is ``ids[offsets[i]:offsets[i + 1]]``; both may be columns in files."""

    ids: Integers | Column
    offsets: Integers | Column

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> "Ragged":
        """Rows held in memory."""
        ids, offsets = array("q"), array("q", [0])
        for row in rows:
            ids.extend(row)
            offsets.append(len(ids))
        return cls(np.array(ids, dtype=np.int64), np.array(offsets, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Integers:
        """The ids of one row."""
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def between(self, start: int, stop: int) -> "Ragged":
        """The rows from ``start`` to before ``stop``, or to the last, without a copy of what is in them."""
        offsets = self.offsets[start : stop + 1]
        return Ragged(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def rows(self, rows: Integers) -> "Ragged":
        """The given rows, at least one of them, held in memory."""
        offsets = np.concatenate([[0], self.lengths[rows].cumsum()])
        return Ragged(np.concatenate(self.each(rows)), offsets)

    @cached_property
    def lengths(self) -> Integers:
        """int64 [rows]."""
        return np.diff(self.offsets[:]).astype(np.int64)

    def lengths_of(self, rows: Integers) -> Integers:
        """The lengths of the given rows, without those of all others."""
        return np.asarray(self.offsets[rows + 1] - self.offsets[rows])

    def each(self, rows: Integers) -> list[Integers]:
        """The ids of each of the given rows, as views of the flat array."""
        spans = zip(self.offsets[rows].tolist(), self.offsets[rows + 1].tolist(), strict=True)
        return [self.ids[begin:end] for begin, end in spans]


def token_counts(ids: Integers | Column, size: int) -> Integers:
    """int64 [size]: how often each of the ids below ``size`` is in a flat array."""
    counts = np.zeros(size, dtype=np.int64)
    for begin in range(0, len(ids), _BLOCK):
        counts += np.bincount(ids[begin : begin + _BLOCK], minlength=size)
    return counts
