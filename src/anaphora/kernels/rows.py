"""Packed sequences: sentences of different lengths without padding, the longest first.

    sentences, sorted        rows (3 sentences of 3, 2 and 1 steps)
    a1 a2 a3                 a1 b1 c1 | a2 b2 | a3
    b1 b2
    c1

Step after step, each with the sentences that are still there. So the rows of a step are one stretch, what they were a
step before is the start of the stretch before it, and a product over all steps is one over all rows.
"""

from functools import cached_property, lru_cache

import torch
from torch import Tensor


class Rows:
    """The rows of B sentences in a grid of T steps."""

    def __init__(self, lengths_B: Tensor, steps: int, device: torch.device) -> None:
        """``lengths_B``, on the processor, in the order of the batch; ``steps`` is T, the longest or more."""
        self._steps, self._sentences, self._device = steps, len(lengths_B), device
        self._order_B = torch.argsort(lengths_B, descending=True, stable=True)
        self._lengths_B = lengths_B[self._order_B]
        self.sorted = bool((self._order_B[1:] > self._order_B[:-1]).all())
        """True if the batch came in the order of the rows."""
        self.active = [int(rows) for rows in torch.bincount(self._lengths_B - 1).flip(0).cumsum(0).flip(0)]
        """Number of sentences that are still there at each step, up to the end of the longest."""
        self.starts = [0]
        """The row that each step starts with, and the number of all rows past the last."""
        for rows in self.active:
            self.starts.append(self.starts[-1] + rows)
        self.whole = self.starts[-1] == steps * len(lengths_B)
        """True if there is a row for every place of the grid."""

    def __len__(self) -> int:
        return self.starts[-1]

    @property
    def order_B(self) -> Tensor:
        """The place in the batch of each sentence, longest first."""
        return self._order_B.to(self._device)

    @cached_property
    def back_B(self) -> Tensor:
        """The place, longest first, of each sentence of the batch."""
        return torch.argsort(self._order_B).to(self._device)

    @cached_property
    def last_B(self) -> Tensor:
        """The row of the last step of each sentence, longest first."""
        return (torch.tensor(self.starts)[self._lengths_B - 1] + torch.arange(self._sentences)).to(self._device)

    def before(self, buffer_XW: Tensor) -> Tensor:
        """Return the previous row of each row's sentence, from a buffer with initial states in front of the rows."""
        if self.active[-1] == self._sentences:  # none leaves before the end
            return buffer_XW[: len(self)]
        return buffer_XW.index_select(0, self.before_R)

    @cached_property
    def before_R(self) -> Tensor:
        """Place of the previous step of each row's sentence, if initial states are put in front of the rows."""
        begins = [0, *(self._sentences + start for start in self.starts[: len(self.active) - 1])]
        begin_R = torch.repeat_interleave(torch.tensor(begins), torch.tensor(self.active))
        return (begin_R + self._sentence_R).to(self._device)

    @property
    def _sentence_R(self) -> Tensor:
        """The place, longest first, of each row's sentence; on the processor."""
        start_R = torch.repeat_interleave(torch.tensor(self.starts[:-1]), torch.tensor(self.active))
        return torch.arange(len(self)) - start_R

    @cached_property
    def _places_R(self) -> Tensor:
        """The place of each row in the grid of the sentences, longest first, read step by step."""
        step_R = torch.repeat_interleave(torch.arange(len(self.active)), torch.tensor(self.active))
        return (step_R * self._sentences + self._sentence_R).to(self._device)

    @cached_property
    def _batch_places_R(self) -> Tensor:
        """The same in the grid of the batch."""
        places_R = self._places_R
        sentence_R = places_R % self._sentences
        return places_R - sentence_R + self.order_B[sentence_R]

    def of_batch(self, grid_TBW: Tensor) -> Tensor:
        """The rows of a block in the order of the batch; what lies past the end of a sentence is not looked at."""
        flat = grid_TBW.reshape(-1, grid_TBW.shape[-1])
        return flat if self.whole and self.sorted else flat.index_select(0, self._batch_places_R)

    def to_batch(self, rows_RW: Tensor) -> Tensor:
        """Return the block in the order of the batch, zero past the end of a sentence; never the same memory."""
        if self.whole and self.sorted:
            return rows_RW.view(self._steps, self._sentences, -1).clone()
        return self._grid(rows_RW, self._batch_places_R)

    def of_grid(self, grid_TBW: Tensor) -> Tensor:
        """Return the rows of a block of sentences, longest first."""
        flat = grid_TBW.reshape(-1, grid_TBW.shape[-1])
        return flat if self.whole else flat.index_select(0, self._places_R)

    def to_grid(self, rows_RW: Tensor) -> Tensor:
        """Return the block of sentences, longest first, zero past the end of each."""
        if self.whole:
            return rows_RW.view(self._steps, self._sentences, -1)
        return self._grid(rows_RW, self._places_R)

    def _grid(self, rows_RW: Tensor, places_R: Tensor) -> Tensor:
        flat = rows_RW.new_zeros(self._steps * self._sentences, rows_RW.shape[-1])
        return flat.index_copy_(0, places_R, rows_RW).view(self._steps, self._sentences, -1)


def rows_of(lengths_B: Tensor, steps: int, device: torch.device) -> Rows:
    """Return the rows of such sentences, found once for the same lengths."""
    return _rows_of(tuple(lengths_B.tolist()), steps, device, torch.is_inference_mode_enabled())


@lru_cache(maxsize=64)
def _rows_of(lengths: tuple[int, ...], steps: int, device: torch.device, inference: bool) -> Rows:
    """``inference``: whether its tensors are those of inference mode, which autograd refuses."""
    return Rows(torch.tensor(lengths), steps, device)
