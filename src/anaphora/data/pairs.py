"""Encoded pairs of sentences as training batches: segmented again each epoch, or with word alignments.

Source rows end in ``</s>``; target rows are y_1 .. y_m ``</s>``.
"""

from collections.abc import Sequence
from random import Random

import numpy as np
import torch

from anaphora.batch import Batch, Ids, Supervision, pad
from anaphora.data.columns import Integers
from anaphora.data.example_batches import BucketedBatches
from anaphora.data.ragged import Ragged
from anaphora.data.store import PairStore
from anaphora.protocols import VocabularyInfo
from anaphora.text.resegmentation import Resegment


class PairBatches(BucketedBatches):
    """Training batches of a PairStore."""

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
        """The length of a row is that of its longest side with its ``</s>``.

        ``resegment``, for source and target where given, draws another segmentation of every row: a function of (seed,
        epoch, side, id of the pair) alone. Batches are made by the lengths of the store, so that finer rows may take
        some more. ``alignments`` between the tokens of each row (i_0 j_0 i_1 j_1 ..), where given, supervise the
        batches; rows are then segmented as they are stored.
        """
        super().__init__(batch_tokens, seed, shuffle_window)
        self._store, self._source, self._target = store, source, target
        self._resegment, self._alignments = resegment, alignments

    def __len__(self) -> int:
        return len(self._store)

    def _lengths(self, start: int, stop: int) -> Sequence[Integers]:
        """Return those of the longer side with its ``</s>``, of the target and of the source."""
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
        """Return the rows of a side and their places: in the store, or segmented again and next to each other."""
        stored, again = (self._store.sources, self._store.targets)[side], self._resegment[side]
        if again is None:
            return stored, rows
        numbers = self._store.numbers[rows].tolist()
        generators = (Random(f"{self._seed} {epoch} {side} {number}") for number in numbers)
        texts = (row.tolist() for row in stored.each(rows))
        return Ragged.of(again(ids, draw) for ids, draw in zip(texts, generators, strict=True)), np.arange(len(rows))


def _distributions(alignments: Sequence[Integers], targets: Ids, inputs: Ids) -> torch.Tensor:
    """Return for every target position the uniform distribution over the input positions that it is aligned to."""
    p_BTS = np.zeros((*targets.ids_BT.shape, inputs.ids_BT.shape[1]), dtype=np.float32)
    for p_TS, pairs in zip(p_BTS, alignments, strict=True):
        i_L, j_L = pairs.reshape(-1, 2).T
        p_TS[j_L, i_L] = 1
    return torch.from_numpy(p_BTS / np.maximum(p_BTS.sum(2, keepdims=True), 1))
