"""Encoded pairs as batches: for training by token budget in a seeded order, for search by the width of the source.

Source rows end in ``</s>``; target rows are y_1 .. y_m ``</s>``.
"""

from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
import torch

from anaphora.batch import Batch, Ids, Supervision, pad
from anaphora.data.buckets import buckets, cut
from anaphora.data.columns import Integers
from anaphora.data.example_batches import WIDTH, LazyBatches
from anaphora.data.ragged import Ragged
from anaphora.data.shuffle_window import WindowedBuckets
from anaphora.data.store import PairStore
from anaphora.protocols import VocabularyInfo
from anaphora.text.resegmentation import Resegment


class PairBatches:
    """Training batches of a PairStore; implements ``protocols.Batches``."""

    def __init__(
        self,
        store: PairStore,
        source: VocabularyInfo,
        target: VocabularyInfo,
        *,
        batch_tokens: int,
        seed: int,
        shuffle_window: int = 0,
        resegment: tuple[Resegment | None, Resegment | None] = (None, None),
        alignments: Ragged | None = None,
    ) -> None:
        """In a batch, rows times the longest side with its ``</s>`` are at most ``batch_tokens``.

        ``resegment``, for source and target where given, draws another segmentation of every row: a function of (seed,
        epoch, side, id of the pair) alone. Batches are made by the lengths of the store, so that finer rows may take
        some more. With ``shuffle_window`` > 0, so many pairs are shuffled together (``WindowedBuckets``), where there
        are more. ``alignments`` between the tokens of each row (i_0 j_0 i_1 j_1 ..), where given, supervise the
        batches; rows are then segmented as they are stored.
        """
        self._alignments = alignments
        self._resegment = resegment
        self._store = store
        self._source = source
        self._target = target
        self._budget = batch_tokens
        self._seed = seed
        self._window = shuffle_window

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every pair once, in an order that (seed, number) alone decides."""
        rows: Sequence[Integers]
        if 0 < self._window < len(self._store):
            count = len(self._store)
            rows = WindowedBuckets(self._lengths, count, self._budget, self._seed, number, self._window)
        else:
            lengths, *then = self._lengths(0, len(self._store))
            rows = buckets(lengths, self._budget, self._seed, number, then=then)
        return LazyBatches(rows, partial(self._batch, number))

    def _lengths(self, start: int, stop: int) -> tuple[Integers, Integers, Integers]:
        """Of the pairs from ``start`` to before ``stop``: the longer side with its ``</s>``, the target, the source."""
        sides = (self._store.sources, self._store.targets)
        source, target = (np.diff(side.offsets[start : stop + 1]).astype(np.int64) for side in sides)
        return np.maximum(source, target) + 1, target, source

    def _batch(self, epoch: int, rows: Integers) -> Batch:
        sources, source_rows = self._segmented(0, epoch, rows)
        targets, target_rows = self._segmented(1, epoch, rows)
        # by target length from long to short, so that kernels may stop rows early
        order = np.lexsort((rows, -sources.lengths_of(source_rows), -targets.lengths_of(target_rows)))
        inputs = pad(sources.each(source_rows[order]), end=self._source.eos, value=self._source.pad)
        outputs = pad(targets.each(target_rows[order]), end=self._target.eos, value=self._target.pad)
        alignments_BTS = None
        if self._alignments is not None:
            alignments_BTS = _distributions(self._alignments.each(rows[order]), outputs, inputs)
        numbers = self._store.numbers[rows[order]]
        return Batch.of_rows(numbers, inputs, outputs, Supervision(alignments_BTS=alignments_BTS))

    def _segmented(self, side: int, epoch: int, rows: Integers) -> tuple[Ragged, Integers]:
        """Where the rows of a side are: in the store, or segmented again and next to each other."""
        stored, again = (self._store.sources, self._store.targets)[side], self._resegment[side]
        if again is None:
            return stored, rows
        numbers = self._store.numbers[rows].tolist()
        generators = (Random(f"{self._seed} {epoch} {side} {number}") for number in numbers)
        texts = (row.tolist() for row in stored.each(rows))
        return Ragged.of(again(ids, draw) for ids, draw in zip(texts, generators, strict=True)), np.arange(len(rows))


def _distributions(alignments: Sequence[Integers], targets: Ids, inputs: Ids) -> torch.Tensor:
    """For every target position the uniform distribution over the input positions that it is aligned to."""
    p_BTS = np.zeros((*targets.ids_BT.shape, inputs.ids_BT.shape[1]), dtype=np.float32)
    for p_TS, pairs in zip(p_BTS, alignments, strict=True):
        i_L, j_L = pairs.reshape(-1, 2).T
        p_TS[j_L, i_L] = 1
    return torch.from_numpy(p_BTS / np.maximum(p_BTS.sum(2, keepdims=True), 1))


def search_batches(
    sources: Ragged,
    source: VocabularyInfo,
    *,
    batch_tokens: int,
    targets: Ragged | None = None,
    target: VocabularyInfo | None = None,
) -> LazyBatches:
    """Batches for search, from short sources to long; the example ids are the positions of the rows in ``sources``.

    All sources of a batch are padded to the same multiple of 16, which each of them would have alone. With ``targets``
    (and their vocabulary) rows also carry y_1 .. y_m ``</s>``, for scoring.
    """
    lengths = sources.lengths + 1
    widths = -(-lengths // WIDTH) * WIDTH
    pieces = []
    for width in np.unique(widths):
        rows = np.flatnonzero(widths == width)
        pieces += cut(rows[np.argsort(-lengths[rows], kind="stable")], widths, batch_tokens)

    def make(rows: Integers) -> Batch:
        outputs = None
        if targets is not None and target is not None:
            outputs = pad(targets.each(rows), end=target.eos, value=target.pad)
        inputs = pad(sources.each(rows), end=source.eos, value=source.pad, multiple=WIDTH)
        return Batch.of_rows(rows, inputs, outputs)

    return LazyBatches(pieces, make)
