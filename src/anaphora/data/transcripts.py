"""Encoded real-valued sequences with their texts as batches: vectors in, tokens out."""

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.columns import Integers
from anaphora.data.trace_store import TraceStore, padded
from anaphora.protocols import VocabularyInfo


class TranscriptBatches(BucketedBatches):
    """Batches of a store whose texts are the targets."""

    def __init__(self, store: TraceStore, text: VocabularyInfo, *, batch_tokens: int, seed: int) -> None:
        """In a batch, rows times the longest sequence or text are at most ``batch_tokens``."""
        super().__init__(np.maximum(np.diff(store.ends), store.texts.lengths + 1), batch_tokens, seed)
        self._store, self._text = store, text

    def _batch(self, rows: Integers) -> Batch:
        ends, values_NX = self._store.ends, self._store.values_NX
        rows = rows[np.lexsort((rows, -np.diff(ends)[rows]))]
        inputs = padded([values_NX[ends[row] : ends[row + 1]] for row in rows])
        return Batch.of_rows(rows, inputs, pad(self._store.texts.each(rows), value=self._text.pad, end=self._text.eos))
