"""Batches of about a given number of tokens, from sequences of similar length.

They are a pure function of (lengths, budget, seed, epoch).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anaphora.data.columns import Integers

POOL = 100
"""Batches whose rows are sorted together: long enough for little padding, short enough for a good mix."""


def buckets(lengths: Integers, budget: int, seed: int, epoch: int, *, then: Sequence[Integers] = ()) -> list[Integers]:
    """The rows of every batch of an epoch, each row once; in a batch, rows times the longest are at most ``budget``.

    A row longer than ``budget`` is a batch of its own. Rows are shuffled, sorted in pools by length and ``then`` by
    other lengths (the sides of a pair), cut into batches, and the batches shuffled.
    """
    order = shuffled(len(lengths), seed, epoch, 0)
    pool = max(1, POOL * budget // max(1, int(lengths.mean()))) if len(lengths) else 1
    batches: list[Integers] = []
    for start in range(0, len(order), pool):
        rows = order[start : start + pool]
        keys = [-other[rows] for other in (lengths, *then)]
        batches += cut(rows[np.lexsort(keys[::-1])], lengths, budget)
    return [batches[place] for place in shuffled(len(batches), seed, epoch, 1)]


def cut(rows: Integers, lengths: Integers, budget: int) -> list[Integers]:
    """Rows that are sorted from long to short, cut so that each piece keeps to ``budget``."""
    pieces = []
    start = 0
    while start < len(rows):
        count = max(1, budget // max(1, int(lengths[rows[start]])))
        pieces.append(rows[start : start + count])
        start += count
    return pieces


def shuffled(count: int, *key: int) -> Integers:
    """The numbers below ``count`` in an order that depends on ``key`` alone.

    Numbers are sorted by a hash of (key, number), so that the order is the same with every version of every library.
    """
    return np.argsort(hashed(np.arange(count), *key), kind="stable")


def hashed(numbers: Integers, *key: int) -> Integers:
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
