"""One product outside of every loop: y = W a for each row.

    1  y  = W a
    1' da = W' dy,   dW = sum dy a'

In training all three are made by its backend (``backends.py``), like those of the loop. Elsewhere a row has the same
bits whatever stands beside it, and the gradient is left to autograd.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.autograd import once_differentiable, outside_autocast
from anaphora.kernels.prepared import prepare, prepared
from anaphora.kernels.runtime import current

ROWS = 16
"""A product of 16, 32, 48, .. rows gives each row the same bits whatever stands beside it; one of 1 to 7 does not, nor,
on processors with AMX, one of 8 (with MKL; with oneDNN every number of rows does)."""

_COLUMNS, _RUN = 12, 4
"""A product less wide than this, over a width that is no multiple of that, does not either (measured with MKL); nor
does one of a single column (with oneDNN)."""


def linear(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    """y = W a, ... x N, for every row of ... x K."""
    wants_gradient = torch.is_grad_enabled() and (a_XK.requires_grad or weight_NK.requires_grad)
    runtime = current()
    if wants_gradient and runtime.training:
        y_XN: Tensor = _Linear.apply(a_XK, weight_NK)  # type: ignore[no-untyped-call]
        return y_XN
    shape = a_XK.shape[:-1]
    columns, width = weight_NK.shape
    narrow = columns == 1 or (columns < _COLUMNS and width % _RUN != 0)
    wide_NK = functional.pad(weight_NK, (0, 0, 0, _COLUMNS - columns)) if narrow else weight_NK
    flat = padded(a_XK.reshape(-1, width), 0)
    y = functional.linear(flat, wide_NK) if wants_gradient else prepared(wide_NK, runtime).times(flat)
    return y[: shape.numel(), :columns].contiguous().view(*shape, columns)


def padded(block: Tensor, dimension: int) -> Tensor:
    """The block with zeros after it, up to a multiple of ``ROWS`` along ``dimension``."""
    missing = -block.shape[dimension] % ROWS
    if not missing:
        return block
    zeros = block.new_zeros([missing if d == dimension else size for d, size in enumerate(block.shape)])
    return torch.cat([block, zeros], dimension)


class _Linear(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, a_XK: Tensor, weight_NK: Tensor) -> Tensor:
        ctx.weight = prepare(weight_NK, a_XK.shape[:-1].numel())
        ctx.save_for_backward(a_XK, weight_NK)
        y_XN: Tensor = ctx.weight.times(a_XK)  # 1
        return y_XN

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dy_XN: Tensor) -> tuple[Tensor | None, Tensor | None]:
        a_XK, _ = ctx.saved_tensors  # refuses a weight changed since
        wants_a, wants_weight = ctx.needs_input_grad
        da_XK = ctx.weight.back(dy_XN) if wants_a else None  # 1'
        return da_XK, ctx.weight.outer(dy_XN.flatten(0, -2), a_XK.flatten(0, -2)) if wants_weight else None
