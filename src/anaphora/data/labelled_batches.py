"""Encoded labelled texts as batches: rows of ids that end in ``</s>``, and one class a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch, Labels, Supervision, pad
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.buckets import prediction_rows
from anaphora.data.columns import Integers
from anaphora.data.pairs import WIDTH
from anaphora.data.store import TextStore
from anaphora.protocols import VocabularyInfo


class LabelledBatches(BucketedBatches):
    """Training batches."""

    def __init__(
        self,
        store: TextStore,
        targets: np.ndarray[Any, np.dtype[Any]],
        text: VocabularyInfo,
        *,
        batch_tokens: int,
        seed: int,
        longest: int,
        weights: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    ) -> None:
        """Texts are truncated to ``longest`` tokens.

        ``targets`` are those of the lines of ``store``: N classes, or N x C booleans for any number of labels.
        ``weights`` are factors of the loss of each line.
        """
        self._ids = store.ids[:]
        ends = np.flatnonzero(self._ids == text.eos)
        super().__init__(np.minimum(np.diff(ends), longest + 1), batch_tokens, seed)
        self._starts = ends[:-1] + 1
        self._targets, self._weights, self._text = targets, weights, text

    def _batch(self, rows: Integers) -> Batch:
        texts = [
            self._ids[start : start + n - 1] for start, n in zip(self._starts[rows], self._lengths[rows], strict=True)
        ]
        inputs = pad(texts, value=self._text.pad, end=self._text.eos)
        return Batch.of_rows(rows, inputs, labels_of(self._targets, rows), weights_of(self._weights, rows))


def labels_of(targets: np.ndarray[Any, np.dtype[Any]], rows: Integers) -> Labels:
    """The targets of some rows, as floating point where they are N x C."""
    chosen = targets[rows]
    return Labels(torch.from_numpy(chosen.astype(np.float32 if chosen.ndim > 1 else np.int64)))


def weights_of(weights: np.ndarray[Any, np.dtype[np.float64]] | None, rows: Integers) -> Supervision:
    """The factors of the loss of some rows, if there are any."""
    return Supervision(None if weights is None else torch.from_numpy(weights[rows]).float())


def prediction_batches(texts: Sequence[Sequence[int]], text: VocabularyInfo, budget: int) -> list[Batch]:
    """Batches of texts whose widths depend on each text alone, so that its prediction does too."""
    widths = [(-(-(len(ids) + 1) // WIDTH) * WIDTH,) for ids in texts]
    return [
        Batch.of_rows(rows, pad([texts[row] for row in rows], value=text.pad, end=text.eos, multiple=WIDTH))
        for rows in prediction_rows(widths, budget)
    ]
