"""The n-grams of a running text, counted in the memory of a few blocks, and laid out for what is made of the counts.

A text is walked in blocks. The windows of each are sorted and counted, and the sorted runs are merged, as are the
n-grams of each order after them; what does not fit in memory lies on disk (``data.scratch``). So the size of a text is
bounded by the disk.

A window is a predicted token and what precedes it in its line. The first token of a line is preceded by ``<s>``, for
which running text has ``</s>``; nothing stands before that. All n-grams of lower order are suffixes of
windows, and sorted from their last token backwards, every suffix is one contiguous stretch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.data.columns import Column, Integers
from anaphora.data.scratch import Growing, SortedRows, Sorter
from anaphora.events import Progress, Report, silent
from anaphora.wording import inflect

BLOCK = 1 << 20
"""Predictions or n-grams that are worked on at a time."""

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Grams:
    """The different n-grams of one order, sorted by their tokens from the first to the last.

    Of order 1 there is one for every symbol of the vocabulary, counted or not, so that its place is its id.
    """

    keys: Array
    """[N], ascending: the place of its first n - 1 tokens among the n-grams of order n - 1, times the size of the
    vocabulary, plus its last token. At order 1 the token alone."""
    counts: Array
    """[N]: how often it was seen; below the highest order, and unless it begins a line, the number of different tokens
    seen before it (the continuation counts of Kneser and Ney 1995)."""
    suffixes: Array
    """[N]: the place of its last n - 1 tokens among the n-grams of order n - 1; 0 at order 1."""


def count(
    ids: Integers | Column,
    *,
    order: int,
    size: int,
    end: int,
    block: int = BLOCK,
    folder: Path | None = None,
    report: Report = silent,
) -> list[Grams]:
    """The n-grams of orders 1 to ``order`` of a text whose ids are below ``size``; ``end`` is the id of ``</s>``.

    ``folder`` takes what does not fit in memory. Raises OSError when its disk is full.
    """
    number = np.uint32 if len(ids) < 1 << 32 else np.int64
    windows = Sorter(_Words(order, size).count, 0, number, block, folder)
    for rows in _windows(ids, order, end, block, report):
        windows.add(SortedRows(_Words(order, size).pack(rows), np.ones(len(rows), dtype=number), []))
    sorters = [Sorter(_Words(n, size).count, 2, number, block, folder) for n in range(1, order + 1)]
    groups = _sorted_suffixes(windows.blocks(), sorters, order, size, end)
    del windows  # and what it has on disk
    return _laid_out(sorters, groups, size, lambda dtype: Growing(dtype, block, folder), number)


class _Words:
    """N-grams packed into whole numbers that sort as their tokens do: each token in as many bits as any needs."""

    def __init__(self, order: int, size: int) -> None:
        self._order, self._bits = order, size.bit_length()  # tokens plus 1, and 0 for none
        self._each = 63 // self._bits

    @property
    def count(self) -> int:
        return -(-self._order // self._each)

    def pack(self, rows: Array) -> list[Array]:
        words = []
        for first in range(0, self._order, self._each):
            word = np.zeros(len(rows), dtype=np.int64)
            for column in range(first, min(first + self._each, self._order)):
                word = word << self._bits | rows[:, column]
            words.append(word)
        return words

    def unpack(self, words: Sequence[Array]) -> Array:
        rows = np.empty((len(words[0]), self._order), dtype=np.int64)
        for place, word in enumerate(words):
            last = min((place + 1) * self._each, self._order) - 1
            for column in range(place * self._each, last + 1):
                rows[:, column] = word >> (self._bits * (last - column)) & ((1 << self._bits) - 1)
        return rows


def _windows(ids: Integers | Column, order: int, end: int, block: int, report: Report) -> Iterator[Array]:
    """Yield the windows of all predictions, block by block, [N, order].

    Column k is the token k places before the predicted one, plus 1; 0 where none is.
    """
    predictions = len(ids) - 1
    for begin in range(0, predictions, block):
        finish = min(begin + block, predictions)
        first = max(0, begin + 1 - (order - 1))
        tokens = np.asarray(ids[first : finish + 1], dtype=np.int64)
        predicted = np.arange(begin + 1 - first, finish + 1 - first)
        windows = np.zeros((len(predicted), order), dtype=np.int64)
        open_ = np.ones(len(predicted), dtype=bool)
        for back in range(order):
            place = predicted - back
            open_ &= place >= 0
            token = tokens[np.maximum(place, 0)]
            windows[:, back] = np.where(open_, token + 1, 0)
            if back:
                open_ &= token != end  # what stands before the line
        yield windows
        report(Progress(f"counting up to {inflect(order, 'token')}", finish, predictions, "tokens"))


def _sorted_suffixes(
    windows: Iterator[SortedRows], sorters: Sequence[Sorter], order: int, size: int, end: int
) -> list[int]:
    """Add the n-grams of each order to its sorter, with their numbers and those of their suffixes.

    They are suffixes of windows that are sorted from the last token backwards. Those of an order are numbered as they
    come; one that reaches over several blocks is counted in parts. Returns how many different ones there are of each
    order.
    """
    words = _Words(order, size)
    found = [0] * order  # n-grams of each order so far
    last = np.zeros(order, dtype=np.int64)  # the last window of the block before
    for block in windows:
        rows, counts = words.unpack(block.words), block.counts.astype(np.int64)
        changes = np.diff(rows, axis=0, prepend=last[None]) != 0
        differs = np.logical_or.accumulate(changes, axis=1)  # [N, order]: from the window before, in the first n tokens
        starts = differs & (rows > 0)
        suffixes = np.zeros(len(rows), dtype=np.int64)
        for n, sorter in enumerate(sorters, 1):
            new, there = starts[:, n - 1], rows[:, n - 1] > 0
            numbers = found[n - 1] + np.cumsum(new) - 1
            first = new.copy()
            first[0] = there[0]  # perhaps the rest of one that the block before began
            begins = np.flatnonzero(first)
            if len(begins):
                tokens = rows[begins, :n][:, ::-1]
                seen = np.add.reduceat(np.where(there, counts, 0), begins)
                if n < order:
                    different = np.add.reduceat(starts[:, n].astype(np.int64), begins)
                    seen = np.where((tokens[:, 0] == end + 1) & (n > 1), seen, different)
                values = [numbers[begins], suffixes[begins]]
                sorter.add(SortedRows(_Words(n, size).pack(tokens), seen, values))
            found[n - 1] += int(new.sum())
            suffixes = numbers
        last = rows[-1]
    return found


def _laid_out(sorters: list[Sorter], groups: Sequence[int], size: int, growing: Any, number: Any) -> list[Grams]:
    """Return the n-grams of every order with the places of their contexts and suffixes; ``sorters`` is emptied."""
    every = np.zeros(size, dtype=number)
    place_of = np.zeros(groups[0], dtype=number)  # by the number of an n-gram of the order below
    for rows in sorters.pop(0).blocks():
        tokens = _Words(1, size).unpack(rows.words)[:, 0] - 1
        every[tokens] = rows.counts
        place_of[rows.values[0]] = tokens
    laid_out = [Grams(np.arange(size), every, np.zeros(size, dtype=number))]
    for n, of_order in enumerate(groups[1:], 2):
        keys, counts, suffixes, places = growing(np.int64), growing(number), growing(number), growing(number)
        for begin in range(0, of_order, BLOCK):
            places.append(np.zeros(min(BLOCK, of_order - begin), dtype=number))
        place = places.whole()
        for rows in sorters.pop(0).blocks():
            tokens = _Words(n, size).unpack(rows.words) - 1
            context = tokens[:, 0]
            for column, grams in zip(tokens[:, 1:-1].T, laid_out[1:], strict=True):
                context = np.searchsorted(grams.keys, context * size + column)
            place[rows.values[0]] = np.arange(len(keys), len(keys) + len(tokens))
            keys.append(context * size + tokens[:, -1])
            counts.append(rows.counts)
            suffixes.append(place_of[rows.values[1]])
        laid_out.append(Grams(keys.whole(), counts.whole(), suffixes.whole()))
        place_of = place
    return laid_out
