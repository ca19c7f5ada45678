"""Examples as batches: for training by token budget in a seeded order, for prediction by the width of each row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import torch

from anaphora.batch import Batch, Supervision
from anaphora.data.buckets import buckets, cut
from anaphora.data.columns import Integers
from anaphora.data.encoding import Rows
from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.field import Field

WIDTH = 16
"""Prediction pads rows to multiples of this, so that the width of a row depends on the row alone."""


class LazyBatches(Sequence[Batch]):
    """Batches that are made when they are looked up, so that any position is as cheap as the first."""

    def __init__(self, rows: Sequence[Integers], make: Callable[[Integers], Batch]) -> None:
        """``make`` turns the rows of one batch into the batch."""
        self.rows = rows
        self._make = make

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, position: int) -> Batch: ...
    @overload
    def __getitem__(self, position: slice) -> "LazyBatches": ...
    def __getitem__(self, position: int | slice) -> "Batch | LazyBatches":
        if isinstance(position, slice):
            return LazyBatches(self.rows[position], self._make)
        return self._make(self.rows[position])


@dataclass(frozen=True)
class Side:
    """A field with rows of it."""

    field: Field[Any]
    rows: Any
    """In the form that ``field`` gives them."""

    @classmethod
    def of(cls, field: Field[Any], rows: Sequence[Rows]) -> "Side":
        """Return encoded rows, at least one, in memory."""
        return cls(field, field.held(Rows.together(rows)))

    @cached_property
    def lengths(self) -> Integers:
        """Positions of each row in a batch, int64."""
        return self.field.lengths(self.rows).astype(np.int64)


class ExampleBatches:
    """Training batches of a store; implements ``protocols.Batches``."""

    def __init__(
        self,
        store: ExampleStore,
        inputs: Field[Any],
        targets: Field[Any],
        *,
        batch_tokens: int,
        seed: int,
        sized_by: Sequence[Field[Any]],
        weights: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    ) -> None:
        """In a batch, rows times the longest of those of the fields ``sized_by`` are at most ``batch_tokens``.

        Its rows come from long to short by the first of these fields, so that kernels may stop rows early. ``weights``
        are factors of the loss of each row.
        """
        self._numbers, self._budget, self._seed, self._weights = store.numbers, batch_tokens, seed, weights
        self._inputs, self._targets = (Side(field, store.rows(field)) for field in (inputs, targets))
        self._sizes = [Side(field, store.rows(field)) for field in sized_by]

    @cached_property
    def _lengths(self) -> Integers:
        return np.asarray(np.max([side.lengths for side in self._sizes], axis=0))

    def epoch(self, number: int) -> LazyBatches:
        """Return the batches of epoch ``number``: every row once, in an order that (seed, number) alone decides."""
        return LazyBatches(buckets(self._lengths, self._budget, self._seed, number), self._batch)

    def _batch(self, rows: Integers) -> Batch:
        rows = rows[np.lexsort((rows, -self._sizes[0].lengths[rows]))]
        inputs, targets = (side.field.items(side.rows, rows) for side in (self._inputs, self._targets))
        weights = None if self._weights is None else torch.from_numpy(self._weights[rows]).float()
        return Batch.of_rows(self._numbers[rows], inputs, targets, Supervision(weights))


def prediction_batches(inputs: Side, batch_tokens: int, targets: Side | None = None) -> LazyBatches:
    """Return batches for prediction from short rows to long; the example ids are the positions of the rows.

    All inputs of a batch are padded to the same multiple of 16, which each of them would have alone. Rows without a
    position are in none. With ``targets`` rows also carry what is expected, for scoring.
    """
    lengths = inputs.lengths
    widths = -(-lengths // WIDTH) * WIDTH
    pieces: list[Integers] = []
    for width in np.unique(widths[lengths > 0]):
        rows = np.flatnonzero(widths == width)
        pieces += cut(rows[np.argsort(-lengths[rows], kind="stable")], widths, batch_tokens)

    def make(rows: Integers) -> Batch:
        expected = targets.field.items(targets.rows, rows) if targets else None
        return Batch.of_rows(rows, inputs.field.items(inputs.rows, rows, WIDTH), expected)

    return LazyBatches(pieces, make)
