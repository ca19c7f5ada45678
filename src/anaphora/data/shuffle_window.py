"""Batches of a corpus that is too large to be shuffled as a whole, in the memory of one part of it.

Blocks of rows that follow each other in the corpus are shuffled, and 64 of them at a time are a window, whose rows are
shuffled and cut into batches like a small corpus (``data/buckets.py``). So rows are read in long stretches, and any
position of an epoch is found without an order of all rows: how many batches a window has follows from its lengths.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from anaphora.data.buckets import POOL, cut, hashed, shuffled
from anaphora.data.columns import Integers
from anaphora.data.lazy import LazySequence

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


class WindowedBuckets(LazySequence[int, Integers]):
    """The rows of every batch of an epoch, each row once; a pure function of (lengths, budget, seed, epoch, window)."""

    def __init__(self, lengths: Lengths, rows: int, budget: int, seed: int, epoch: int, window: int) -> None:
        """In a batch, rows times the longest are at most ``budget``; about ``window`` of the ``rows`` are shuffled."""
        self._lengths, self._rows, self._budget, self._key = lengths, rows, budget, (seed, epoch)
        self._block = max(1, window // _BLOCKS)
        blocks = shuffled(-(-rows // self._block), *self._key, 0)
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
        return [batches[place] for place in shuffled(len(batches), *self._key, 1, window)]

    def _count(self, window: int) -> int:
        """The number of batches of a window, for which its rows need not be sorted."""
        rows, (lengths, *_) = self._read(window)
        pools, _ = self._pools(rows, lengths)
        width = int(lengths.max()) + 1
        ordered = np.sort(pools * width + width - 1 - lengths)  # by pool, then from long to short
        by_pool = np.split(width - 1 - ordered % width, np.flatnonzero(np.diff(ordered // width)) + 1)
        return sum(len(cut(np.arange(len(pool)), pool, self._budget)) for pool in by_pool)

    def _read(self, window: int) -> tuple[Integers, list[Integers]]:
        """The rows of a window, and their lengths."""
        starts = (self._windows[window] * self._block).tolist()
        spans = [(start, min(start + self._block, self._rows)) for start in starts]
        lengths = zip(*(self._lengths(*span) for span in spans), strict=True)
        return np.concatenate([np.arange(*span) for span in spans]), list(map(np.concatenate, lengths))

    def _pools(self, rows: Integers, lengths: Integers) -> tuple[Integers, Integers]:
        """The pool that each row is sorted in, drawn, and what orders rows of equal lengths."""
        keys = hashed(rows, *self._key, 2)
        size = max(1, POOL * self._budget // max(1, int(lengths.mean())))
        return (keys % np.uint64(-(-len(rows) // size))).astype(np.int64), keys
