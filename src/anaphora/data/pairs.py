"""Encoded pairs as batches: for training by token budget in a seeded order, for search by the width of the source.

Source rows end in ``</s>``; target rows are y_1 .. y_m ``</s>``.
"""

from collections.abc import Callable, Sequence
from typing import overload

import numpy as np
import torch

from anaphora.data.buckets import buckets, cut
from anaphora.data.ragged import Integers, Ragged
from anaphora.data.store import PairStore
from anaphora.protocols import Batch, Symbols

WIDTH = 16
"""Search pads sources to multiples of this, so that a sentence's width depends on the sentence alone."""


class LazyBatches(Sequence[Batch]):
    """Batches that are made when they are looked up, so that any position is as cheap as the first."""

    def __init__(self, rows: Sequence[Integers], make: Callable[[Integers], Batch]) -> None:
        """``make`` turns the rows of one batch into the batch."""
        self.rows = rows
        self._make = make

    def __len__(self) -> int:
        """The number of batches."""
        return len(self.rows)

    @overload
    def __getitem__(self, position: int) -> Batch: ...
    @overload
    def __getitem__(self, position: slice) -> "LazyBatches": ...
    def __getitem__(self, position: int | slice) -> "Batch | LazyBatches":
        """The batch at a position, or the batches of a slice."""
        if isinstance(position, slice):
            return LazyBatches(self.rows[position], self._make)
        return self._make(self.rows[position])


class PairBatches:
    """Training batches of a PairStore; meets ``protocols.Batches``."""

    def __init__(self, store: PairStore, source: Symbols, target: Symbols, *, batch_tokens: int, seed: int) -> None:
        """In a batch, rows times the longest side with its ``</s>`` are at most ``batch_tokens``."""
        self._store = store
        self._source = source
        self._target = target
        self._budget = batch_tokens
        self._seed = seed
        self._lengths = np.maximum(store.sources.lengths, store.targets.lengths) + 1

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every pair once, in an order that (seed, number) alone decides."""
        sides = (self._store.targets.lengths, self._store.sources.lengths)
        return LazyBatches(buckets(self._lengths, self._budget, self._seed, number, then=sides), self._batch)

    def _batch(self, rows: Integers) -> Batch:
        # by target length from long to short, so that kernels may stop rows early
        rows = rows[np.lexsort((rows, -self._store.sources.lengths[rows], -self._store.targets.lengths[rows]))]
        return Batch(
            inputs=self._store.sources.padded(rows, end=self._source.eos, pad=self._source.pad),
            targets=self._store.targets.padded(rows, end=self._target.eos, pad=self._target.pad),
            numbers_B=torch.from_numpy(self._store.numbers[rows].astype(np.int64)),
            continues_B=torch.zeros(len(rows), dtype=torch.bool),
        )


def search_batches(
    sources: Ragged,
    source: Symbols,
    *,
    batch_tokens: int,
    targets: Ragged | None = None,
    target: Symbols | None = None,
) -> LazyBatches:
    """Batches for search, from short sources to long; ``numbers_B`` says where each row stood.

    All sources of a batch are padded to the same multiple of 16, which each of them would have alone. With ``targets``
    (and their symbols) rows also carry y_1 .. y_m ``</s>``, for scoring.
    """
    lengths = sources.lengths + 1
    widths = -(-lengths // WIDTH) * WIDTH
    pieces = []
    for width in np.unique(widths):
        rows = np.flatnonzero(widths == width)
        pieces += cut(rows[np.argsort(-lengths[rows], kind="stable")], widths, batch_tokens)

    def make(rows: Integers) -> Batch:
        closed = None
        if targets is not None and target is not None:
            closed = targets.padded(rows, end=target.eos, pad=target.pad)
        return Batch(
            inputs=sources.padded(rows, end=source.eos, pad=source.pad, multiple=WIDTH),
            targets=closed,
            numbers_B=torch.from_numpy(rows.astype(np.int64)),
            continues_B=torch.zeros(len(rows), dtype=torch.bool),
        )

    return LazyBatches(pieces, make)
