"""Encoded real-valued sequences with their texts as batches: vectors in, tokens out."""

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.data.buckets import buckets
from anaphora.data.columns import Integers
from anaphora.data.pairs import LazyBatches
from anaphora.data.trace_store import TraceStore, padded
from anaphora.protocols import VocabularyInfo


class TranscriptBatches:
    """Batches of a store whose texts are the targets; implements ``protocols.Batches``."""

    def __init__(self, store: TraceStore, text: VocabularyInfo, *, batch_tokens: int, seed: int) -> None:
        """In a batch, rows times the longest sequence or text are at most ``batch_tokens``."""
        self._store, self._text, self._budget, self._seed = store, text, batch_tokens, seed
        self._lengths = np.maximum(np.diff(store.ends), store.texts.lengths + 1)

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every sequence once, in an order that (seed, number) alone decides."""
        return LazyBatches(buckets(self._lengths, self._budget, self._seed, number), self._batch)

    def _batch(self, rows: Integers) -> Batch:
        ends, values_NX = self._store.ends, self._store.values_NX
        rows = rows[np.lexsort((rows, -np.diff(ends)[rows]))]
        inputs = padded([values_NX[ends[row] : ends[row + 1]] for row in rows])
        return Batch.of_rows(rows, inputs, pad(self._store.texts.each(rows), value=self._text.pad, end=self._text.eos))
