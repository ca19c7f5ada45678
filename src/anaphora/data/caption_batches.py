"""Encoded captions with the features of their images as batches; for search, features alone."""

from collections.abc import Sequence

import numpy as np
import torch

from anaphora.batch import Batch, Grid, pad
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.captioned import CaptionCorpus
from anaphora.data.columns import Integers
from anaphora.data.store import TextStore
from anaphora.errors import DataError
from anaphora.events import Report, Skipped
from anaphora.formats.arrays import Floats
from anaphora.protocols import VocabularyInfo
from anaphora.wording import counted


class CaptionBatches(BucketedBatches):
    """Training batches, bucketed by the length of captions."""

    def __init__(
        self,
        corpus: CaptionCorpus,
        store: TextStore,
        text: VocabularyInfo,
        *,
        batch_tokens: int,
        seed: int,
        longest: int,
        report: Report,
    ) -> None:
        """``store`` has the captions of ``corpus``; those of more than ``longest`` tokens are left out (a Skipped).

        In a batch, rows times the longest caption with its ``</s>`` are at most ``batch_tokens``. Raises DataError
        where none is left.
        """
        self._ids = store.ids[:]
        ends = np.flatnonzero(self._ids == text.eos)
        lengths = np.diff(ends)
        self._rows = np.flatnonzero(lengths <= longest + 1)
        most = counted(longest, "token")
        if skipped := len(lengths) - len(self._rows):
            report(Skipped(f"captions with more than {most} were left out of {corpus.name}", skipped))
        if not len(self._rows):
            raise DataError(f"Every caption of {corpus.name} has more than {most}: raise data.max_length.")
        super().__init__(lengths[self._rows], batch_tokens, seed)
        self._corpus, self._text, self._starts = corpus, text, ends[:-1][self._rows] + 1

    def _batch(self, rows: Integers) -> Batch:
        starts, lengths = self._starts[rows], self._lengths[rows]
        texts = [self._ids[start : start + length - 1] for start, length in zip(starts, lengths, strict=True)]
        rows, features = self._rows[rows], self._corpus.features
        grids = [features[self._corpus.captions[row].image] for row in rows]
        return Batch.of_rows(rows, _grid(grids), pad(texts, value=self._text.pad, end=self._text.eos))


def prediction_batches(grids: Sequence[Floats], size: int) -> list[Batch]:
    """Batches of at most ``size`` grids, in their order; the example ids are their positions."""
    return [
        Batch.of_rows(range(start, min(start + size, len(grids))), _grid(grids[start : start + size]))
        for start in range(0, len(grids), size)
    ]


def _grid(grids: Sequence[Floats]) -> Grid:
    return Grid(torch.from_numpy(np.stack(grids)))
