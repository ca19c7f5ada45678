"""The n-grams of a running text, counted in one pass over blocks of it, and laid out for what is made of the counts.

A text is walked in blocks; the windows of each are sorted and counted, and the sorted runs are merged two by two. So
memory is bounded by the different n-grams of a text and not by its length.

A window is a predicted token and what precedes it in its line. The first token of a line is preceded by ``<s>``, for
which running text has ``</s>`` (``data.store``); nothing stands before that. All n-grams of lower order are suffixes of
windows, and sorted from their last token backwards, every suffix is one contiguous stretch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anaphora.data.columns import Column, Integers
from anaphora.data.store import TextStore
from anaphora.events import Progress, Report, silent
from anaphora.wording import counted

_BLOCK = 1 << 20
"""Predictions counted at a time."""

Array = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Grams:
    """The different n-grams of one order, sorted by their tokens from the first to the last.

    Of order 1 there is one for every symbol of the vocabulary, counted or not, so that its place is its id.
    """

    tokens: Array
    """[N, n]: the tokens of each."""
    counts: Array
    """[N]: how often it was seen; below the highest order, and unless it begins a line, the number of different tokens
    seen before it (the continuation counts of Kneser and Ney 1995)."""
    contexts: Array
    """[N]: the place of its first n - 1 tokens among the n-grams of order n - 1; 0 at order 1."""
    suffixes: Array
    """[N]: the place of its last n - 1 tokens among the n-grams of order n - 1; 0 at order 1."""


def count(
    store: TextStore, *, order: int, size: int, end: int, block: int = _BLOCK, report: Report = silent
) -> list[Grams]:
    """The n-grams of orders 1 to ``order`` of a text whose ids are below ``size``; ``end`` is the id of ``</s>``."""
    runs: list[_Run] = []
    predictions = len(store.ids) - 1
    for begin in range(0, predictions, block):
        runs.append(_run(_windows(store.ids, begin, min(begin + block, predictions), order, end)))
        while len(runs) > 1 and len(runs[-2].counts) <= 2 * len(runs[-1].counts):
            runs.append(_merged(runs.pop(), runs.pop()))
        report(
            Progress(
                f"counting up to {counted(order, 'token')}", min(begin + block, predictions), predictions, "tokens"
            )
        )
    while len(runs) > 1:
        runs.append(_merged(runs.pop(), runs.pop()))
    return list(_grams(runs[0], order, size, end))


class _Run(NamedTuple):
    """Different windows, sorted from the last token backwards, and how often each was seen.

    ``backwards`` is [N, order]: column k is the token k places before the predicted one, plus 1; 0 where none is.
    """

    backwards: Array
    counts: Array


def _windows(ids: Integers | Column, begin: int, finish: int, order: int, end: int) -> Array:
    """The windows of predictions ``begin`` to ``finish``, as ``_Run.backwards``."""
    first = max(0, begin + 1 - (order - 1))
    block = np.asarray(ids[first : finish + 1], dtype=np.int64)
    predicted = np.arange(begin + 1 - first, finish + 1 - first)
    windows = np.zeros((len(predicted), order), dtype=np.int64)
    open_ = np.ones(len(predicted), dtype=bool)
    for back in range(order):
        place = predicted - back
        open_ &= place >= 0
        token = block[np.maximum(place, 0)]
        windows[:, back] = np.where(open_, token + 1, 0)
        if back:
            open_ &= token != end  # what stands before the line
    return windows


def _run(windows: Array, counts: Array | None = None) -> _Run:
    """Windows sorted, equal ones counted together."""
    order = _sorting(windows)
    windows = windows[order]
    new = _new(windows)
    starts = np.flatnonzero(new)
    seen = np.diff(starts, append=len(windows)) if counts is None else np.add.reduceat(counts[order], starts)
    return _Run(windows[starts], seen)


def _merged(first: _Run, second: _Run) -> _Run:
    windows = np.concatenate([first.backwards, second.backwards])
    return _run(windows, np.concatenate([first.counts, second.counts]))


def _sorting(rows: Array) -> Array:
    """What sorts rows of small numbers by their columns from the left, equal ones in the order they came in."""
    bits = max(1, int(rows.max(initial=0)).bit_length())
    at_once = max(1, 63 // bits)
    keys = []
    for first in range(0, rows.shape[1], at_once):
        key = np.zeros(len(rows), dtype=np.int64)
        for column in rows[:, first : first + at_once].T:
            key = key << bits | column
        keys.append(key)
    sorting: Array = np.lexsort(keys[::-1])
    return sorting


def _new(rows: Array) -> Any:
    """Which rows differ from the one before them."""
    new = np.ones(len(rows), dtype=bool)
    if rows.shape[1]:
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def _grams(run: _Run, order: int, size: int, end: int) -> Iterator[Grams]:
    """The n-grams of every order, from the windows of the highest."""
    window_group = np.zeros(len(run.counts), dtype=np.int64)  # the suffix of each window one order lower, by its place
    starts = [np.flatnonzero(_new(run.backwards[:, :n]) & (run.backwards[:, n - 1] > 0)) for n in range(1, order + 1)]
    lower: Grams | None = None
    for n in range(1, order + 1):
        there = run.backwards[:, n - 1] > 0
        begins = starts[n - 1]
        group = np.searchsorted(begins, np.arange(len(run.counts)), side="right") - 1  # of each window that is there
        seen = np.bincount(group[there], weights=run.counts[there], minlength=len(begins)).astype(np.int64)
        tokens = run.backwards[begins, :n][:, ::-1] - 1
        if n < order:
            different = np.bincount(group[starts[n]], minlength=len(begins))
            counts = np.where((tokens[:, 0] == end) & (n > 1), seen, different)
        else:
            counts = seen
        if lower is None:
            every = np.zeros(size, dtype=np.int64)
            every[tokens[:, 0]] = counts
            nothing = np.zeros(size, dtype=np.int64)
            lower = Grams(np.arange(size, dtype=np.int64)[:, None], every, nothing, nothing)
            window_group = run.backwards[:, 0] - 1
        else:
            forwards = _sorting(tokens)
            suffixes = window_group[begins][forwards]
            lower = Grams(tokens[forwards], counts[forwards], _places(tokens[forwards][:, :-1], lower), suffixes)
            place = np.empty(len(begins), dtype=np.int64)
            place[forwards] = np.arange(len(begins))
            window_group = place[group] if len(begins) else group
        yield lower


def _places(rows: Array, grams: Grams) -> Array:
    """The place of each of the sorted ``rows`` among ``grams``, which has them all."""
    new = _new(rows)
    distinct = rows[new]
    both = np.concatenate([grams.tokens, distinct])
    order = _sorting(both)  # stable: of two equal ones, that of ``grams`` comes first
    place = np.cumsum(order < len(grams.tokens)) - 1
    found = np.empty(len(both), dtype=np.int64)
    found[order] = place
    places: Array = found[len(grams.tokens) :][np.cumsum(new) - 1]
    return places
