"""A text as sentences: every line by itself between ``<s>`` and ``</s>``, in batches of similar length."""

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.columns import Integers
from anaphora.data.store import TextStore
from anaphora.errors import DataError
from anaphora.protocols import VocabularyInfo
from anaphora.wording import counted


class TextSentences(BucketedBatches):
    """Batches of a TextStore.

    From ``<s>`` y_1 .. y_m a row predicts y_1 .. y_m ``</s>``.
    """

    def __init__(
        self, store: TextStore, text: VocabularyInfo, *, batch_tokens: int, seed: int, longest: int = 0
    ) -> None:
        """In a batch, rows times the longest with its ``</s>`` are at most ``batch_tokens``.

        With ``longest`` > 0, sentences of more tokens are left out; DataError when none is left.
        """
        ends = np.flatnonzero(store.ids[:] == text.eos)
        lengths = np.diff(ends)
        self._numbers = np.flatnonzero(lengths <= longest + 1) if longest else np.arange(len(lengths))
        self.left_out = len(lengths) - len(self._numbers)
        """Number of sentences that are too long."""
        if not len(self._numbers):
            raise DataError(f"Every line of the text has more than {counted(longest, 'token')}: raise data.max_length.")
        super().__init__(lengths[self._numbers], batch_tokens, seed)
        self._ids, self._starts, self._text = store.ids, ends[self._numbers] + 1, text

    def _batch(self, rows: Integers) -> Batch:
        begins = self._starts[rows].tolist()
        ends = (self._starts[rows] + self._lengths[rows]).tolist()
        spans = list(zip(begins, ends, strict=True))
        # the token in front of a line is the end of the line before, which <s> replaces
        inputs = pad([self._ids[begin - 1 : end - 1] for begin, end in spans], value=self._text.pad)
        inputs.ids_BT[:, 0] = self._text.bos
        targets = pad([self._ids[begin:end] for begin, end in spans], value=self._text.pad)
        return Batch.of_rows(self._numbers[rows], inputs, targets)
