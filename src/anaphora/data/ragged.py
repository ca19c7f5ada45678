"""Rows of different lengths in one flat array, and counts of the ids in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # processes that encode need no torch
    from anaphora.data.columns import Column, Integers

_BLOCK = 1 << 20
"""Ids counted at a time, so that an array mapped from a file is never held in memory."""


@dataclass(frozen=True)
class Ragged:
    """Row i is ``ids[offsets[i]:offsets[i + 1]]``; both may be columns in files.

    In place of ids there may be vectors, N x width, or strings.
    """

    ids: Integers | Column
    offsets: Integers | Column

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Ragged:
        """Return rows held in memory."""
        ids, offsets = array("q"), array("q", [0])
        for row in rows:
            ids.extend(row)
            offsets.append(len(ids))
        return cls(np.array(ids, dtype=np.int64), np.array(offsets, dtype=np.int64))

    @classmethod
    def of_lengths(cls, ids: Any, lengths: Integers) -> Ragged:
        """Return rows of these lengths that lie one after the other in ``ids``."""
        return cls(ids, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    @classmethod
    def of_arrays(cls, rows: Sequence[Any], width: int) -> Ragged:
        """Return arrays of T x ``width`` one after the other."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls.of_lengths(np.concatenate([np.zeros((0, width), np.float32), *rows]), lengths)

    @classmethod
    def of_strings(cls, rows: Sequence[Sequence[str]]) -> Ragged:
        """Return rows of strings."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls.of_lengths(np.array([string for row in rows for string in row], dtype=object), lengths)

    @classmethod
    def concatenate(cls, parts: Sequence[Ragged]) -> Ragged:
        """Return the rows of several, one at least, one after the other."""
        ids = np.concatenate([np.asarray(part.ids) for part in parts])
        return cls.of_lengths(ids, np.concatenate([part.lengths for part in parts]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Integers:
        """Return the ids of one row."""
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def slice(self, start: int, stop: int) -> Ragged:
        """Return the rows from ``start`` to before ``stop``, or to the last, without a copy of what is in them."""
        offsets = self.offsets[start : stop + 1]
        return Ragged(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def rows(self, rows: Integers) -> Ragged:
        """Return the given rows, held in memory."""
        return Ragged.of_lengths(np.concatenate([self.ids[:0], *self.split(rows)]), self.lengths[rows])

    def as_numbers(self, numbers: dict[str, int]) -> tuple[Ragged, list[str]]:
        """Return strings as their ``numbers``, and those that are new, which are numbered as they occur first."""
        strings = np.asarray(self.ids).tolist()
        new = [string for string in dict.fromkeys(strings) if string not in numbers]
        numbers.update(zip(new, count(len(numbers)), strict=False))
        return Ragged(np.array([numbers[string] for string in strings], dtype=np.int64), self.offsets), new

    def truncate(self, longest: int) -> Ragged:
        """Return the first ``longest`` positions of every row; all where that is 0."""
        if not longest or (self.lengths <= longest).all():
            return self
        places = np.arange(len(self.ids)) - np.repeat(self.offsets[:-1], self.lengths)
        return Ragged.of_lengths(self.ids[np.flatnonzero(places < longest)], np.minimum(self.lengths, longest))

    @cached_property
    def lengths(self) -> Integers:
        """int64 [rows]."""
        return np.diff(self.offsets[:]).astype(np.int64)

    def lengths_of(self, rows: Integers) -> Integers:
        """Return the lengths of the given rows, without those of all others."""
        return np.asarray(self.offsets[rows + 1] - self.offsets[rows])

    def split(self, rows: Integers) -> list[Integers]:
        """Return the ids of each of the given rows, as views of the flat array."""
        spans = zip(self.offsets[rows].tolist(), self.offsets[rows + 1].tolist(), strict=True)
        return [self.ids[begin:end] for begin, end in spans]

    def to_lists(self) -> list[list[int]]:
        """Return the ids of every row."""
        return [row.tolist() for row in self.split(np.arange(len(self)))]


def token_counts(ids: Integers | Column, size: int) -> Integers:
    """int64 [size]: how often each of the ids below ``size`` is in a flat array."""
    counts = np.zeros(size, dtype=np.int64)
    for begin in range(0, len(ids), _BLOCK):
        counts += np.bincount(ids[begin : begin + _BLOCK], minlength=size)
    return counts
