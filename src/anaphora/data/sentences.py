"""A text as sentences: every line by itself between ``<s>`` and ``</s>``, in batches of like length."""

from functools import partial
from typing import Any

import numpy as np
import torch

from anaphora.data.buckets import buckets
from anaphora.data.pairs import LazyBatches
from anaphora.data.ragged import Integers
from anaphora.data.store import TextStore
from anaphora.errors import DataError
from anaphora.protocols import Batch, Sequence, VocabularyInfo


class TextSentences:
    """Batches of a TextStore; meets ``protocols.Batches``. From ``<s>`` y_1 .. y_m a row predicts y_1 .. ``</s>``."""

    def __init__(
        self, store: TextStore, text: VocabularyInfo, *, batch_tokens: int, seed: int, longest: int = 0
    ) -> None:
        """In a batch, rows times the longest with its ``</s>`` are at most ``batch_tokens``.

        With ``longest`` > 0, sentences of more units are left out; DataError when none is left.
        """
        ends = np.flatnonzero(store.ids == text.eos)
        lengths = np.diff(ends)
        self._numbers = np.flatnonzero(lengths <= longest + 1) if longest else np.arange(len(lengths))
        self.left_out = len(lengths) - len(self._numbers)
        """Sentences that are too long."""
        if not len(self._numbers):
            raise DataError(f"Every line of the text has more than {longest} units: raise data.longest.")
        self._ids, self._starts, self._lengths = store.ids, ends[self._numbers] + 1, lengths[self._numbers]
        self._text, self._budget, self._seed = text, batch_tokens, seed

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every sentence once, in an order that (seed, number) alone decides."""
        return LazyBatches(buckets(self._lengths, self._budget, self._seed, number), self._batch)

    def _batch(self, rows: Integers) -> Batch:
        # from long to short, so that kernels may stop rows early
        rows = rows[np.lexsort((rows, -self._lengths[rows]))]
        starts, lengths = self._starts[rows, None], self._lengths[rows]
        steps = np.arange(lengths[0])
        inside = steps < lengths[:, None]
        units = self._ids[np.where(inside, starts + steps, 0)]
        before = self._ids[np.where(inside, starts + steps - 1, 0)]
        before[:, 0] = self._text.bos
        grid = partial(_sequence, inside, lengths, self._text.pad)
        return Batch(
            inputs=grid(before),
            targets=grid(units),
            numbers_B=torch.from_numpy(self._numbers[rows].astype(np.int64)),
            continues_B=torch.zeros(len(rows), dtype=torch.bool),
        )


def _sequence(inside: np.ndarray[Any, np.dtype[np.bool_]], lengths: Integers, pad: int, ids: Integers) -> Sequence:
    block = np.where(inside, ids, pad).astype(np.int64)
    return Sequence(torch.from_numpy(block), torch.from_numpy(lengths.astype(np.int64)))
