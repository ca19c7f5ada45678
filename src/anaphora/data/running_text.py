"""Running text: encoded once, and in batches of windows or of lines.

As windows, parallel streams are read a few steps at a time, with the state carried over.

The text is ``</s>`` and then every line with its ``</s>``. Of its N predictions each stream takes floor(N / rows), so
the last N mod rows are left out; with one row none is.

Windows of one length have their borders at the same words in every epoch, and gradients of the words after a border
always reach back the fewest steps. Random lengths (Merity, Keskar and Socher 2018, section 4.1) move the borders: with
b the configured length, the next window is about b steps long, or about b / 2 with probability 1 in 20, with a
standard deviation of 5 steps. The learning rate of its update is multiplied by its length over b; otherwise the mean
loss of a short window would count as much as that of a long one.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, takewhile
from pathlib import Path
from random import Random
from statistics import NormalDist

import numpy as np

from anaphora.batch import Batch, Ids, Supervision, pad
from anaphora.data.columns import Column, Integers
from anaphora.data.corpora import TextCorpus
from anaphora.data.example_batches import BucketedBatches, LazyBatches
from anaphora.data.example_store import example_store
from anaphora.data.fields.tokens import RunningText
from anaphora.errors import DataError
from anaphora.events import Report, silent
from anaphora.protocols import VocabularyInfo
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import inflect

HALVED = 0.05
"""Probability that a window of random length is about half as long as the others."""

JITTER = NormalDist(sigma=5)
"""Distribution of the difference, in steps, between a random length and its mean."""

SHORTEST = 5
"""Minimum length of a window of random length, unless the configured length is less."""


def encoded_text(
    corpus: TextCorpus, tokenizer: Tokenizer, folder: Path, *, threads: int = 0, report: Report = silent
) -> Column:
    """Return a running text as ids: ``</s>``, then every line with its ``</s>``; see ``example_store``.

    Every id but the first is there to be predicted.
    """
    field = RunningText("text", tokenizer)
    ids: Column = example_store(corpus, [field], folder, noun="line", threads=threads, report=report).rows(field)
    return ids


class TextWindows:
    """Batches of running text; implements ``protocols.Batches``. The order is the text's own in every epoch."""

    def __init__(
        self, ids: Integers | Column, *, rows: int, steps: int, seed: int | None = None, micro_batches: int = 1
    ) -> None:
        """``ids`` are those of the text, a ``</s>`` in front.

        It is read as ``rows`` streams, ``steps`` predictions a window; with a ``seed``, of random lengths about that.

        Each of several ``micro_batches`` of an update reads ``rows`` streams of its own; their batches take turns.
        Raises DataError when the text has fewer predictions than streams.
        """
        self._ids = ids
        self._steps, self._seed = steps, seed
        predictions, streams = len(ids) - 1, micro_batches * rows
        self._span = predictions // streams
        if not self._span:
            raise DataError(
                f"The text should have a token for each of the {streams} streams of an update, but has "
                f"{inflect(predictions, 'token')}: give more text, or fewer rows."
            )
        self._starts = np.split(np.arange(streams) * self._span, micro_batches)

    def epoch(self, number: int) -> LazyBatches:
        """Return the windows in order, the last of which may be shorter; (seed, number) alone decides where they end.

        Those of all micro-batches follow each other before the next windows of any.
        """
        inner = takewhile(lambda border: border < self._span, accumulate(self._lengths(number)))
        borders = [0, *inner, self._span]
        places = [(*window, turn) for window in pairwise(borders) for turn in range(len(self._starts))]
        return LazyBatches([np.array(place) for place in places], self._batch)

    def _lengths(self, epoch: int) -> Iterator[int]:
        """Lengths of the windows of an epoch, without end."""
        draw = None if self._seed is None else Random(f"windows {self._seed} {epoch}")
        while True:
            yield self._steps if draw is None else _random_length(self._steps, draw)

    def _batch(self, place: Integers) -> Batch:
        offset, end, turn = map(int, place)
        width, starts = end - offset, self._starts[turn] + offset
        block = self._ids[starts[:, None] + np.arange(width + 1)].astype(np.int64)
        lengths = np.full(len(starts), width)
        return Batch(
            inputs=Ids(np.ascontiguousarray(block[:, :-1]), lengths),
            targets=Ids(np.ascontiguousarray(block[:, 1:]), lengths),
            example_ids_B=starts.astype(np.int64),
            carry_mask_B=np.full(len(starts), offset > 0),
            supervision=Supervision(learning_rate_factor=1.0 if self._seed is None else width / self._steps),
        )


class TextSentences(BucketedBatches):
    """Batches of lines: from ``<s>`` y_1 .. y_m a row predicts y_1 .. y_m ``</s>``."""

    def __init__(
        self, ids: Integers | Column, text: VocabularyInfo, *, batch_tokens: int, seed: int, longest: int = 0
    ) -> None:
        """``ids`` are the tokens of the text after a ``</s>``; each line with its ``</s>`` is a row.

        With ``longest`` > 0, sentences of more tokens are left out; DataError when none is left.
        """
        ends = np.flatnonzero(ids[:] == text.eos)
        lengths = np.diff(ends)
        numbers = np.flatnonzero(lengths <= longest + 1) if longest else np.arange(len(lengths))
        super().__init__(numbers, batch_tokens, seed)
        self.left_out = len(lengths) - len(numbers)
        """Number of sentences that are too long."""
        if not len(numbers):
            raise DataError(f"Every line of the text has more than {inflect(longest, 'token')}: raise data.max_length.")
        self._ids, self._text = ids, text
        self._starts, self._sizes = ends[numbers] + 1, lengths[numbers]

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


def _random_length(steps: int, draw: Random) -> int:
    """Return a length about ``steps``, or now and then about half of it."""
    about = steps / 2 if draw.random() < HALVED else steps
    # the inverse of the distribution is plain arithmetic, the same with every version of every library
    jitter = JITTER.inv_cdf(max(draw.random(), 1e-9))
    return max(min(SHORTEST, steps), int(about + jitter))
