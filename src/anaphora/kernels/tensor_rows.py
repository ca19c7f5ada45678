"""Packed sequences of tensors: see ``rows.py``."""

from functools import cached_property, lru_cache

import torch
from torch import Tensor

from anaphora.kernels.compiled.library import Array
from anaphora.kernels.rows import Rows


class TensorRows(Rows):
    """The rows of B sentences in a grid of T steps, over tensors."""

    def __init__(self, lengths_B: Tensor, steps: int, device: torch.device) -> None:
        """``lengths_B``, on the processor, in the order of the batch; ``steps`` is T, the longest or more."""
        super().__init__(lengths_B.numpy(), steps)
        self._device = device

    @cached_property
    def arrays(self) -> Rows:
        """The same over arrays."""
        return Rows(self._batch_lengths_B, self._steps)

    def take(self, block_XW: Tensor, places_R: Tensor) -> Tensor:
        return block_XW.index_select(0, places_R)

    def _grid(self, rows_RW: Tensor, places_R: Tensor) -> Tensor:
        flat = rows_RW.new_zeros(self._steps * self._sentences, rows_RW.shape[-1])
        return flat.index_copy_(0, places_R, rows_RW).view(self._steps, self._sentences, -1)

    def _indices(self, places: Array) -> Tensor:
        return torch.from_numpy(places).to(self._device)

    def _copy(self, block: Tensor) -> Tensor:
        return block.clone()


def rows_of(lengths_B: Tensor, steps: int, device: torch.device) -> TensorRows:
    """Return the rows of such sentences, found once for the same lengths."""
    return _rows_of(tuple(lengths_B.tolist()), steps, device, torch.is_inference_mode_enabled())


@lru_cache(maxsize=64)
def _rows_of(lengths: tuple[int, ...], steps: int, device: torch.device, inference: bool) -> TensorRows:
    """``inference``: whether its tensors are those of inference mode, which autograd refuses."""
    return TensorRows(torch.tensor(lengths), steps, device)
