"""Running text as sentences: every line on its own between ``<s>`` and ``</s>``, in batches of similar length."""

from collections.abc import Sequence

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.data.columns import Column, Integers
from anaphora.data.example_batches import BucketedBatches
from anaphora.errors import DataError
from anaphora.protocols import VocabularyInfo
from anaphora.wording import counted


class TextSentences(BucketedBatches):
    """Batches of lines: from ``<s>`` y_1 .. y_m a row predicts y_1 .. y_m ``</s>``."""

    def __init__(
        self, ids: Integers | Column, text: VocabularyInfo, *, batch_tokens: int, seed: int, longest: int = 0
    ) -> None:
        """``ids`` are those of the text, a ``</s>`` in front; a row is as long as its line with its ``</s>``.

        With ``longest`` > 0, sentences of more tokens are left out; DataError when none is left.
        """
        super().__init__(batch_tokens, seed)
        ends = np.flatnonzero(ids[:] == text.eos)
        lengths = np.diff(ends)
        self._numbers = np.flatnonzero(lengths <= longest + 1) if longest else np.arange(len(lengths))
        self.left_out = len(lengths) - len(self._numbers)
        """Number of sentences that are too long."""
        if not len(self._numbers):
            raise DataError(f"Every line of the text has more than {counted(longest, 'token')}: raise data.max_length.")
        self._ids, self._text = ids, text
        self._starts, self._sizes = ends[self._numbers] + 1, lengths[self._numbers]

    def __len__(self) -> int:
        return len(self._numbers)

    def _lengths(self, start: int, stop: int) -> Sequence[Integers]:
        return [self._sizes[start:stop]]

    def _batch(self, epoch: int, rows: Integers) -> Batch:
        rows = rows[np.lexsort((rows, -self._sizes[rows]))]
        begins = self._starts[rows].tolist()
        ends = (self._starts[rows] + self._sizes[rows]).tolist()
        spans = list(zip(begins, ends, strict=True))
        # the token in front of a line is the end of the line before, which <s> replaces
        inputs = pad([self._ids[begin - 1 : end - 1] for begin, end in spans], value=self._text.pad)
        inputs.ids_BT[:, 0] = self._text.bos
        targets = pad([self._ids[begin:end] for begin, end in spans], value=self._text.pad)
        return Batch.of_rows(self._numbers[rows], inputs, targets)
