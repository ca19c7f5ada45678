"""Encoded captions with the features of their images as batches; for search, features alone."""

from collections.abc import Sequence

import numpy as np
import torch

from anaphora.batch import Batch, Grid, pad
from anaphora.data.buckets import buckets
from anaphora.data.captioned import CaptionCorpus
from anaphora.data.columns import Integers
from anaphora.data.pairs import LazyBatches
from anaphora.data.store import TextStore
from anaphora.errors import DataError
from anaphora.events import Report, Skipped
from anaphora.formats.arrays import Floats
from anaphora.protocols import VocabularyInfo
from anaphora.wording import counted


class CaptionBatches:
    """Training batches, bucketed by the length of captions; implements ``protocols.Batches``."""

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
        self._starts, self._lengths = ends[:-1] + 1, np.diff(ends)
        self._rows = np.flatnonzero(self._lengths <= longest + 1)
        most = counted(longest, "token")
        if skipped := len(self._lengths) - len(self._rows):
            report(Skipped(f"captions with more than {most} were left out of {corpus.name}", skipped))
        if not len(self._rows):
            raise DataError(f"Every caption of {corpus.name} has more than {most}: raise data.max_length.")
        self._corpus, self._text, self._budget, self._seed = corpus, text, batch_tokens, seed

    def epoch(self, number: int) -> LazyBatches:
        """The batches of epoch ``number``: every caption once, in an order that (seed, number) alone decides."""
        return LazyBatches(buckets(self._lengths[self._rows], self._budget, self._seed, number), self._batch)

    def _batch(self, places: Integers) -> Batch:
        rows = self._rows[places]
        rows = rows[np.lexsort((rows, -self._lengths[rows]))]
        texts = [
            self._ids[start : start + length - 1]
            for start, length in zip(self._starts[rows], self._lengths[rows], strict=True)
        ]
        features = self._corpus.features
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
