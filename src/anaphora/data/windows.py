"""Running text as windows: cut into parallel streams, walked a few steps at a time, the state carried over.

The text is ``</s>`` and then every line with its ``</s>``. Of its N predictions each stream takes floor(N / rows), so
the last N mod rows are left out; with one row nothing is.
"""

import numpy as np
import torch

from anaphora.data.pairs import LazyBatches
from anaphora.data.ragged import Integers
from anaphora.data.store import TextStore
from anaphora.errors import DataError
from anaphora.protocols import Batch, Sequence


class TextWindows:
    """Batches of a TextStore; meets ``protocols.Batches``. The order is the text's own in every epoch."""

    def __init__(self, store: TextStore, *, rows: int, steps: int) -> None:
        """``rows`` streams, ``steps`` predictions a window; DataError when the text has fewer predictions than rows."""
        self._ids = store.ids
        self._steps = steps
        predictions = len(store.ids) - 1
        self._span = predictions // rows
        if not self._span:
            raise DataError(
                f"A text should give each of the {rows} streams of a batch something to predict, but holds only "
                f"{predictions} units: give more text, or fewer rows."
            )
        self._starts = np.arange(rows) * self._span

    @property
    def predictions(self) -> int:
        """Ids predicted in an epoch."""
        return self._span * len(self._starts)

    def epoch(self, number: int) -> LazyBatches:
        """The windows from the first to the last, which may be shorter; the same in every epoch."""
        return LazyBatches([self._starts + offset for offset in range(0, self._span, self._steps)], self._batch)

    def _batch(self, starts: Integers) -> Batch:
        offset = int(starts[0])  # the first stream starts at 0
        width = min(self._steps, self._span - offset)
        block = torch.from_numpy(self._ids[starts[:, None] + np.arange(width + 1)].astype(np.int64))
        lengths = torch.full((len(starts),), width, dtype=torch.int64)
        return Batch(
            inputs=Sequence(block[:, :-1].contiguous(), lengths),
            targets=Sequence(block[:, 1:].contiguous(), lengths),
            numbers_B=torch.from_numpy(starts.astype(np.int64)),
            continues_B=torch.full((len(starts),), offset > 0, dtype=torch.bool),
        )
