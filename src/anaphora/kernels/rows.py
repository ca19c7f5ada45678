"""Packed sequences: sentences of different lengths without padding, the longest first.

    sentences, sorted        rows (3 sentences of 3, 2 and 1 steps)
    a1 a2 a3                 a1 b1 c1 | a2 b2 | a3
    b1 b2
    c1

Step after step, each with the sentences that are still there. So the rows of a step are one stretch, what they were a
step before is the start of the stretch before it, and a product over all steps is one over all rows.
"""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from anaphora.kernels.compiled.library import Array


class Rows:
    """The rows of B sentences in a grid of T steps, over arrays; ``tensor_rows.py`` has the same over tensors."""

    def __init__(self, lengths_B: Array, steps: int) -> None:
        """``lengths_B`` in the order of the batch; ``steps`` is T, the longest or more."""
        self._steps, self._sentences, self._batch_lengths_B = steps, len(lengths_B), lengths_B
        self._order_B = np.argsort(-lengths_B, kind="stable")
        self._lengths_B = lengths_B[self._order_B]
        self.sorted = bool((self._order_B[1:] > self._order_B[:-1]).all())
        """True if the batch came in the order of the rows."""
        self.active: list[int] = np.bincount(self._lengths_B - 1)[::-1].cumsum()[::-1].tolist()
        """Number of sentences that are still there at each step, up to the end of the longest."""
        self.starts = [0]
        """The row that each step starts with, and the number of all rows past the last."""
        for rows in self.active:
            self.starts.append(self.starts[-1] + rows)
        self.whole = self.starts[-1] == steps * len(lengths_B)
        """True if there is a row for every place of the grid."""

    def __len__(self) -> int:
        return self.starts[-1]

    @cached_property
    def order_B(self) -> Any:
        """The place in the batch of each sentence, longest first."""
        return self._indices(self._order_B)

    @cached_property
    def back_B(self) -> Any:
        """The place, longest first, of each sentence of the batch."""
        return self._indices(np.argsort(self._order_B))

    @cached_property
    def last_B(self) -> Any:
        """The row of the last step of each sentence, longest first."""
        return self._indices(np.array(self.starts)[self._lengths_B - 1] + np.arange(self._sentences))

    def before(self, buffer_XW: Any) -> Any:
        """Return the previous row of each row's sentence, from a buffer with initial states in front of the rows."""
        if self.active[-1] == self._sentences:  # none leaves before the end
            return buffer_XW[: len(self)]
        return self.take(buffer_XW, self.before_R)

    @cached_property
    def before_R(self) -> Any:
        """Place of the previous step of each row's sentence, if initial states are put in front of the rows."""
        begins = [0, *(self._sentences + start for start in self.starts[: len(self.active) - 1])]
        return self._indices(np.repeat(begins, self.active) + self._sentence_R)

    @property
    def _sentence_R(self) -> Array:
        """The place, longest first, of each row's sentence."""
        start_R: Array = np.repeat(self.starts[:-1], self.active)
        return np.arange(len(self)) - start_R

    @cached_property
    def _places_R(self) -> Any:
        """The place of each row in the grid of the sentences, longest first, read step by step."""
        step_R = np.repeat(np.arange(len(self.active)), self.active)
        return self._indices(step_R * self._sentences + self._sentence_R)

    @cached_property
    def _batch_places_R(self) -> Any:
        """The same in the grid of the batch."""
        step_R = np.repeat(np.arange(len(self.active)), self.active)
        return self._indices(step_R * self._sentences + self._order_B[self._sentence_R])

    def of_batch(self, grid_TBW: Any) -> Any:
        """The rows of a block in the order of the batch; what lies past the end of a sentence is not looked at."""
        flat = grid_TBW.reshape(-1, grid_TBW.shape[-1])
        return flat if self.whole and self.sorted else self.take(flat, self._batch_places_R)

    def to_batch(self, rows_RW: Any) -> Any:
        """Return the block in the order of the batch, zero past the end of a sentence; never the same memory."""
        if self.whole and self.sorted:
            return self._copy(rows_RW.reshape(self._steps, self._sentences, -1))
        return self._grid(rows_RW, self._batch_places_R)

    def of_grid(self, grid_TBW: Any) -> Any:
        """Return the rows of a block of sentences, longest first."""
        flat = grid_TBW.reshape(-1, grid_TBW.shape[-1])
        return flat if self.whole else self.take(flat, self._places_R)

    def to_grid(self, rows_RW: Any) -> Any:
        """Return the block of sentences, longest first, zero past the end of each."""
        if self.whole:
            return rows_RW.reshape(self._steps, self._sentences, -1)
        return self._grid(rows_RW, self._places_R)

    def _grid(self, rows_RW: Any, places_R: Any) -> Any:
        flat = np.zeros((self._steps * self._sentences, rows_RW.shape[-1]), rows_RW.dtype)
        flat[places_R] = rows_RW
        return flat.reshape(self._steps, self._sentences, -1)

    # What arrays and tensors have under different names

    def take(self, block_XW: Any, places_R: Any) -> Any:
        """Return the rows of a block at such places."""
        return block_XW.take(places_R, 0)

    def _indices(self, places: Array) -> Any:
        return places

    def _copy(self, block: Any) -> Any:
        return block.copy()


def rows_of(lengths_B: Array, steps: int) -> Rows:
    """Return the rows of such sentences, found once for the same lengths."""
    return _rows_of(tuple(lengths_B.tolist()), steps)


@lru_cache(maxsize=64)
def _rows_of(lengths: tuple[int, ...], steps: int) -> Rows:
    return Rows(np.array(lengths), steps)
