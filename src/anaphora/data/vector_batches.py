"""Labelled sequences of vectors as batches: padded vectors, and the labels of each row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from anaphora.batch import NO_SUPERVISION, Batch, Labels, Supervision
from anaphora.data.buckets import buckets
from anaphora.data.columns import Integers
from anaphora.data.labelled_batches import labels_of, weights_of
from anaphora.data.pairs import WIDTH, LazyBatches
from anaphora.data.trace_store import padded, prediction_rows
from anaphora.errors import DataError
from anaphora.formats.arrays import Floats


class VectorBatches:
    """Training batches of sequences in memory; implements ``protocols.Batches``."""

    def __init__(
        self,
        sequences: Sequence[Floats],
        targets: np.ndarray[Any, np.dtype[Any]],
        *,
        batch_tokens: int,
        seed: int,
        weights: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    ) -> None:
        """``targets`` and ``weights`` of each sequence are as for ``LabelledBatches``."""
        self._sequences, self._targets, self._weights = sequences, targets, weights
        self._lengths = np.array([len(one) for one in sequences])
        self._budget, self._seed = batch_tokens, seed

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every sequence once, in an order that (seed, number) alone decides."""
        return LazyBatches(buckets(self._lengths, self._budget, self._seed, number), self._batch)

    def _batch(self, rows: Integers) -> Batch:
        rows = rows[np.lexsort((rows, -self._lengths[rows]))]
        labels, supervision = labels_of(self._targets, rows), weights_of(self._weights, rows)
        return _batch(self._sequences, rows, 1, labels, supervision)


def checked(place: str, values_TD: Floats, width: int) -> Floats:
    """The vectors of a sequence; DataError where they have another width than those of training."""
    if values_TD.shape[1] != width:
        raise DataError(
            f"{place} has vectors of {values_TD.shape[1]} numbers, but those of the training split have {width}: give "
            f"all of them the same width."
        )
    return values_TD


def prediction_batches(sequences: Sequence[Floats], budget: int) -> list[Batch]:
    """Batches whose widths depend on each sequence alone, so that its prediction does too."""
    widths = [(-(-len(one) // WIDTH) * WIDTH,) for one in sequences]
    return [_batch(sequences, rows, WIDTH) for rows in prediction_rows(widths, budget)]


def _batch(
    sequences: Sequence[Floats],
    rows: Integers,
    multiple: int,
    labels: Labels | None = None,
    supervision: Supervision = NO_SUPERVISION,
) -> Batch:
    return Batch(
        inputs=padded([sequences[row] for row in rows], multiple),
        targets=labels,
        example_ids_B=torch.from_numpy(rows.astype(np.int64)),
        carry_mask_B=torch.zeros(len(rows), dtype=torch.bool),
        supervision=supervision,
    )
