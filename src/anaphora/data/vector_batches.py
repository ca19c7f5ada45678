"""Sequences of vectors as batches: padded vectors, and the targets of each row."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch, Items, Supervision
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.buckets import prediction_rows
from anaphora.data.columns import Integers
from anaphora.data.example_batches import WIDTH
from anaphora.data.trace_store import padded
from anaphora.errors import DataError
from anaphora.formats.arrays import Floats


class VectorBatches(BucketedBatches):
    """Training batches of sequences in memory."""

    def __init__(
        self,
        sequences: Sequence[Floats],
        targets: Callable[[Integers], Items],
        *,
        batch_tokens: int,
        seed: int,
        weights: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    ) -> None:
        """``targets`` gives those of some sequences; ``weights`` are factors of the loss of each."""
        super().__init__(np.array([len(one) for one in sequences]), batch_tokens, seed)
        self._sequences, self._targets, self._weights = sequences, targets, weights

    def _batch(self, rows: Integers) -> Batch:
        inputs = padded([self._sequences[row] for row in rows])
        return Batch.of_rows(
            rows,
            inputs,
            self._targets(rows),
            Supervision(None if self._weights is None else torch.from_numpy(self._weights[rows]).float()),
        )


def given_vectors(place: str, values: Any, width: int) -> Floats:
    """The vectors of a sequence that a caller gave, steps x width, or width for one vector.

    DataError for another shape or width, and for numbers that are not finite.
    """
    values_TD = np.asarray(values, dtype=np.float32)
    if values_TD.ndim not in (1, 2) or not values_TD.size:
        raise DataError(f"{place} should be steps x width, but its shape is {values_TD.shape}: reshape it.")
    if not np.isfinite(values_TD).all():
        raise DataError(f"{place} has a number that is not finite: correct it.")
    return checked(place, values_TD.reshape(-1, values_TD.shape[-1]), width)


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
    return [
        Batch.of_rows(rows, padded([sequences[row] for row in rows], WIDTH)) for rows in prediction_rows(widths, budget)
    ]
