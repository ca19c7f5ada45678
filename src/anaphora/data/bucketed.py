"""Training batches of rows of similar length, whatever the rows are."""

from abc import ABC, abstractmethod

import numpy as np

from anaphora.batch import Batch
from anaphora.data.buckets import buckets
from anaphora.data.columns import Integers
from anaphora.data.example_batches import LazyBatches


class BucketedBatches(ABC):
    """Batches by the lengths of their rows; implements ``protocols.Batches``."""

    def __init__(self, lengths: Integers, batch_tokens: int, seed: int) -> None:
        """In a batch, rows times the longest of ``lengths`` are at most ``batch_tokens``."""
        self._lengths, self._budget, self._seed = lengths, batch_tokens, seed

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every row once, in an order that (seed, number) alone decides."""
        return LazyBatches(buckets(self._lengths, self._budget, self._seed, number), self._made)

    def _made(self, rows: Integers) -> Batch:
        return self._batch(self._in_order(rows))

    def _in_order(self, rows: Integers) -> Integers:
        """From long to short, so that kernels may stop rows early."""
        return rows[np.lexsort((rows, -self._lengths[rows]))]

    @abstractmethod
    def _batch(self, rows: Integers) -> Batch:
        """A batch of these rows, in their order."""
