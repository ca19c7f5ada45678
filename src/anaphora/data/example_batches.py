"""Examples as batches: for training by token budget in a seeded order, for prediction by the width of each row."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from anaphora.batch import Batch, Supervision
from anaphora.data.buckets import LazySequence, WindowedBuckets, buckets, cut
from anaphora.data.columns import Column, Integers
from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.field import Field
from anaphora.data.ragged import Ragged

Length = TypeVar("Length", int, Integers)

WIDTH = 16
"""Prediction pads rows to multiples of this, so that the width of a row depends on the row alone."""


def padded_width(length: Length) -> Length:
    """Return the width of a row of prediction."""
    return -(-length // WIDTH) * WIDTH


LazyBatches = LazySequence[Integers, Batch]
"""Batches by the rows of each."""


@dataclass(frozen=True)
class Side:
    """A field with rows of it."""

    field: Field[Any]
    rows: Any
    """Rows in the form that ``field`` gives them."""

    @classmethod
    def of(cls, field: Field[Any], rows: Sequence[Ragged]) -> "Side":
        """Return encoded rows, at least one, in memory."""
        return cls(field, field.from_memory(Ragged.concatenate(rows)))

    @cached_property
    def lengths(self) -> Integers:
        """Positions of each row in a batch, int64."""
        return self.field.lengths(self.rows).astype(np.int64)


class BucketedBatches(ABC):
    """Training batches by token budget, of rows of similar length; implements ``protocols.Batches``."""

    def __init__(self, numbers: Integers | Column, batch_tokens: int, seed: int, window: int = 0) -> None:
        """``numbers`` are the places of the rows in the corpus.

        In a batch, rows times the longest of them are at most ``batch_tokens``.

        With ``window`` > 0, so many rows are shuffled together (``buckets.WindowedBuckets``), where there are
        more.
        """
        self._numbers, self._budget, self._seed, self._window = numbers, batch_tokens, seed, window

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._numbers)

    @abstractmethod
    def _lengths(self, start: int, stop: int) -> Sequence[Integers]:
        """Return the lengths of the rows from ``start`` to before ``stop``.

        First those that fill a batch, then others, by which rows of equal ones are sorted.
        """

    @abstractmethod
    def _batch(self, epoch: int, rows: Integers) -> Batch:
        """Return a batch of these rows."""

    def _rows(self, epoch: int) -> Integers:
        """Return the rows of an epoch, ascending, a function of it and the seed alone: by default every row once."""
        return np.arange(len(self))

    def epoch(self, number: int) -> LazyBatches:
        """Return the batches of epoch ``number``: its rows in an order that (seed, number) alone decides."""
        order, make = (self._budget, self._seed, number), partial(self._batch, number)
        if 0 < self._window < len(self):
            return LazyBatches(WindowedBuckets(self._lengths, len(self), *order, self._window), make)
        rows = self._rows(number)
        lengths, *then = (of_rows[rows] for of_rows in self._lengths(0, len(self)))
        return LazyBatches([rows[batch] for batch in buckets(lengths, *order, then=then)], make)


class ExampleBatches(BucketedBatches):
    """Training batches of a store."""

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
        """The length of a row is that of the longest of the fields ``sized_by``.

        The rows of a batch come from long to short by the first of these fields, so that kernels may stop rows early.
        ``weights`` are factors of the loss of each row.
        """
        super().__init__(store.numbers, batch_tokens, seed)
        self._weights = weights
        self._inputs, self._targets = (Side(field, store.rows(field)) for field in (inputs, targets))
        sizes = [Side(field, store.rows(field)).lengths for field in sized_by]
        self._order, self._longest = sizes[0], np.max(sizes, axis=0)

    def _lengths(self, start: int, stop: int) -> Sequence[Integers]:
        return [self._longest[start:stop]]

    def _batch(self, epoch: int, rows: Integers) -> Batch:
        rows = rows[np.lexsort((rows, -self._order[rows]))]
        inputs, targets = (side.field.items(side.rows, rows) for side in (self._inputs, self._targets))
        weights = None if self._weights is None else self._weights[rows].astype(np.float32)
        return Batch.of_rows(self._numbers[rows], inputs, targets, Supervision(weights))


def prediction_batches(
    inputs: Side, batch_tokens: int, targets: Side | None = None, *, aligned: bool = False
) -> LazyBatches:
    """Return batches for prediction from short rows to long; the example ids are the positions of the rows.

    All inputs of a batch are padded to the same multiple of 16, which each of them would have alone. Ragged without a
    position are in none. With ``targets`` rows also carry what is expected, for scoring; ``aligned`` ones have a step
    for each of the inputs, and are padded like them.
    """
    lengths = inputs.lengths
    widths = padded_width(lengths)
    pieces: list[Integers] = []
    for width in np.unique(widths[lengths > 0]):
        rows = np.flatnonzero(widths == width)
        pieces += cut(rows[np.argsort(-lengths[rows], kind="stable")], widths, batch_tokens)

    def make(rows: Integers) -> Batch:
        expected = targets.field.items(targets.rows, rows, WIDTH if aligned else 1) if targets else None
        return Batch.of_rows(rows, inputs.field.items(inputs.rows, rows, WIDTH), expected)

    return LazyBatches(pieces, make)
