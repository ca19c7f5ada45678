"""Running text as windows: cut into parallel streams, walked a few steps at a time, the state carried over.

The text is ``</s>`` and then every line with its ``</s>``. Of its N predictions each stream takes floor(N / rows), so
the last N mod rows are left out; with one row nothing is.

Windows of one length have their borders at the same words in every epoch, and the words after a border always see the
shortest way back. Random lengths (Merity, Keskar and Socher 2018, section 4.1) move the borders: with b the length
asked for, the next window is about b steps long, or by a chance of 1 in 20 about b / 2, with a deviation of 5 steps.
The learning rate of its update is multiplied by its length over b, since a short window's mean loss would else count as
much as a long one's.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise, takewhile
from random import Random
from statistics import NormalDist

import numpy as np
import torch

from anaphora.data.pairs import LazyBatches
from anaphora.data.ragged import Integers
from anaphora.data.store import TextStore
from anaphora.errors import DataError
from anaphora.protocols import Batch, Sequence

HALVED = 0.05
"""The chance that a window of random length is about half as long as the others."""

JITTER = NormalDist(sigma=5)
"""By how many steps a random length differs from what it would be."""

SHORTEST = 5
"""Steps that a window of random length has at least, unless fewer were asked for."""


class TextWindows:
    """Batches of a TextStore; meets ``protocols.Batches``. The order is the text's own in every epoch."""

    def __init__(self, store: TextStore, *, rows: int, steps: int, seed: int | None = None) -> None:
        """``rows`` streams, ``steps`` predictions a window; with a ``seed``, windows of random lengths about that.

        Raises DataError when the text has fewer predictions than rows.
        """
        self._ids = store.ids
        self._steps, self._seed = steps, seed
        predictions = len(store.ids) - 1
        self._span = predictions // rows
        if not self._span:
            raise DataError(
                f"A text should give each of the {rows} streams of a batch something to predict, but holds only "
                f"{predictions} units: give more text, or fewer rows."
            )
        self._starts = np.arange(rows) * self._span

    def epoch(self, number: int) -> LazyBatches:
        """The windows from the first to the last, which may be shorter; (seed, number) alone decides where they end."""
        inner = takewhile(lambda border: border < self._span, accumulate(self._lengths(number)))
        borders = [0, *inner, self._span]
        return LazyBatches([np.array(window) for window in pairwise(borders)], self._batch)

    def _lengths(self, epoch: int) -> Iterator[int]:
        """Lengths of the windows of an epoch, as many as are asked for."""
        draw = None if self._seed is None else Random(f"windows {self._seed} {epoch}")
        while True:
            yield self._steps if draw is None else _random_length(self._steps, draw)

    def _batch(self, window: Integers) -> Batch:
        offset, width = int(window[0]), int(window[1] - window[0])
        starts = self._starts + offset
        block = torch.from_numpy(self._ids[starts[:, None] + np.arange(width + 1)].astype(np.int64))
        lengths = torch.full((len(starts),), width, dtype=torch.int64)
        return Batch(
            inputs=Sequence(block[:, :-1].contiguous(), lengths),
            targets=Sequence(block[:, 1:].contiguous(), lengths),
            numbers_B=torch.from_numpy(starts.astype(np.int64)),
            continues_B=torch.full((len(starts),), offset > 0, dtype=torch.bool),
            rate=1.0 if self._seed is None else width / self._steps,
        )


def _random_length(steps: int, draw: Random) -> int:
    """A length about ``steps``, or now and then about half of it."""
    about = steps / 2 if draw.random() < HALVED else steps
    # the inverse of the distribution is plain arithmetic, the same with every version of every library
    jitter = JITTER.inv_cdf(max(draw.random(), 1e-9))
    return max(min(SHORTEST, steps), int(about + jitter))
