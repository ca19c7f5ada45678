"""Batches of about a given number of tokens, from sequences of similar length, shuffled as a whole or in windows.

They are a pure function of (lengths, budget, seed, epoch, window). A corpus that is too large to be shuffled as a whole
is shuffled in windows, in the memory of one of them: blocks of rows that follow each other in the corpus are shuffled,
and 64 of them at a time are a window, whose rows are shuffled and cut into batches like a small corpus. So rows are
read in long stretches, and any position of an epoch is found without an order of all rows: how many batches a window
has follows from its lengths.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar, overload

import numpy as np

from anaphora.data.columns import Integers

POOL = 100
"""Batches whose rows are sorted together: long enough for little padding, short enough for a good mix."""

LARGE = 1 << 22
"""Rows from which on a new run shuffles in windows, unless it says how."""

WINDOW = 1 << 20
"""Rows of a window then."""

_BLOCKS = 64
"""Blocks of a window."""
_HELD = 2
"""Windows whose batches are kept: a reader may look ahead beyond the end of one."""

Lengths = Callable[[int, int], Sequence[Integers]]
"""The lengths of the rows from a first to before a last: those that fill batches, then others to sort by."""

Place = TypeVar("Place")
Item = TypeVar("Item")


def buckets(lengths: Integers, budget: int, seed: int, epoch: int, *, then: Sequence[Integers] = ()) -> list[Integers]:
    """The rows of every batch of an epoch, each row once; in a batch, rows times the longest are at most ``budget``.

    A row longer than ``budget`` is its own batch. Rows are shuffled, sorted in pools by length and ``then`` by
    other lengths (the sides of a pair), cut into batches, and the batches shuffled.
    """
    order = shuffle(len(lengths), seed, epoch, 0)
    pool = max(1, POOL * budget // max(1, int(lengths.mean()))) if len(lengths) else 1
    batches: list[Integers] = []
    for start in range(0, len(order), pool):
        rows = order[start : start + pool]
        keys = [-other[rows] for other in (lengths, *then)]
        batches += cut(rows[np.lexsort(keys[::-1])], lengths, budget)
    return [batches[place] for place in shuffle(len(batches), seed, epoch, 1)]


def cut(rows: Integers, lengths: Integers, budget: int) -> list[Integers]:
    """Return rows that are sorted from long to short, cut so that each piece keeps to ``budget``."""
    pieces = []
    start = 0
    while start < len(rows):
        count = max(1, budget // max(1, int(lengths[rows[start]])))
        pieces.append(rows[start : start + count])
        start += count
    return pieces


def shuffle(count: int, *key: int) -> Integers:
    """Return the numbers below ``count`` in an order that depends on ``key`` alone.

    Numbers are sorted by a hash of (key, number), so that the order is the same with every version of every library.
    """
    return np.argsort(hash_numbers(np.arange(count), *key), kind="stable")


def hash_numbers(numbers: Integers, *key: int) -> Integers:
    """uint64 like ``numbers``, for each one that depends on it and ``key`` alone; different for different numbers."""
    state = np.uint64(0)
    for part in key:
        state = _mix(np.array([state ^ np.uint64(part % (1 << 64))]))[0]
    return _mix(numbers.astype(np.uint64) ^ state)


def _mix(values: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """SplitMix64 (Steele, Lea, Flood 2014): one to one, and every bit depends on every bit."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


class LazySequence(Sequence[Item], Generic[Place, Item]):
    """Items that are made when they are looked up, so that any position is as cheap as the first."""

    def __init__(self, places: Sequence[Place], make: Callable[[Place], Item]) -> None:
        """``make`` turns each of the ``places`` into its item."""
        self.places = places
        self._make = make

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, position: int) -> Item: ...
    @overload
    def __getitem__(self, position: slice) -> "LazySequence[Place, Item]": ...
    def __getitem__(self, position: int | slice) -> "Item | LazySequence[Place, Item]":
        if isinstance(position, slice):
            return LazySequence(self.places[position], self._make)
        return self._make(self.places[position])


class WindowedBuckets(LazySequence[int, Integers]):
    """The rows of every batch of an epoch, each row once; a pure function of (lengths, budget, seed, epoch, window)."""

    def __init__(self, lengths: Lengths, rows: int, budget: int, seed: int, epoch: int, window: int) -> None:
        """In a batch, rows times the longest are at most ``budget``; about ``window`` of the ``rows`` are shuffled."""
        self._lengths, self._rows, self._budget, self._key = lengths, rows, budget, (seed, epoch)
        self._block = max(1, window // _BLOCKS)
        blocks = shuffle(-(-rows // self._block), *self._key, 0)
        self._windows = [blocks[start : start + _BLOCKS] for start in range(0, len(blocks), _BLOCKS)]
        self._ends = [0, *accumulate(map(self._count, range(len(self._windows))))]
        self._held: dict[int, list[Integers]] = {}
        super().__init__(range(self._ends[-1]), self._batch)

    def _batch(self, place: int) -> Integers:
        """Return the rows of a batch; batches of one window are cheap once one of them was looked up."""
        window = int(np.searchsorted(self._ends, place, side="right")) - 1
        if window not in self._held:
            self._held[window] = self._batches(window)
            if len(self._held) > _HELD:
                del self._held[next(iter(self._held))]
        return self._held[window][place - self._ends[window]]

    def _batches(self, window: int) -> list[Integers]:
        rows, (lengths, *others) = self._read(window)
        pools, keys = self._pools(rows, lengths)
        order = np.lexsort([keys, *(-other for other in reversed(others)), -lengths, pools])
        borders = np.flatnonzero(np.diff(pools[order])) + 1
        batches = [rows[batch] for pool in np.split(order, borders) for batch in cut(pool, lengths, self._budget)]
        return [batches[place] for place in shuffle(len(batches), *self._key, 1, window)]

    def _count(self, window: int) -> int:
        """Return the number of batches of a window, for which its rows need not be sorted."""
        rows, (lengths, *_) = self._read(window)
        pools, _ = self._pools(rows, lengths)
        width = int(lengths.max()) + 1
        ordered = np.sort(pools * width + width - 1 - lengths)  # by pool, then from long to short
        by_pool = np.split(width - 1 - ordered % width, np.flatnonzero(np.diff(ordered // width)) + 1)
        return sum(len(cut(np.arange(len(pool)), pool, self._budget)) for pool in by_pool)

    def _read(self, window: int) -> tuple[Integers, list[Integers]]:
        """Return the rows of a window, and their lengths."""
        starts = (self._windows[window] * self._block).tolist()
        spans = [(start, min(start + self._block, self._rows)) for start in starts]
        lengths = zip(*(self._lengths(*span) for span in spans), strict=True)
        return np.concatenate([np.arange(*span) for span in spans]), list(map(np.concatenate, lengths))

    def _pools(self, rows: Integers, lengths: Integers) -> tuple[Integers, Integers]:
        """Return the pool that each row is sorted in, drawn, and what orders rows of equal lengths."""
        keys = hash_numbers(rows, *self._key, 2)
        size = max(1, POOL * self._budget // max(1, int(lengths.mean())))
        return (keys % np.uint64(-(-len(rows) // size))).astype(np.int64), keys
