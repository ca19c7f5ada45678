"""One product outside of every loop: y = W a for each row.

    1  y  = W a
    1' da = W' dy,   dW = sum dy a'

In training all three are made by its backend (``backends.py``), like those of the loop. Elsewhere a row has the same
bits in any batch, and the gradient is left to autograd.
"""

from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import once_differentiable, outside_autocast
from anaphora.kernels.backends import steady_linear
from anaphora.kernels.prepared import prepare, prepared
from anaphora.kernels.runtime import current


def linear(a_XK: Tensor, weight_NK: Tensor, lengths_B: Tensor | None = None) -> Tensor:
    """y = W a, ... x N, for every row of ... x K.

    With ``lengths_B``, a is B x S x K and what lies past the end of a sentence is of no consequence: in training, zero.
    """
    wants_gradient = torch.is_grad_enabled() and (a_XK.requires_grad or weight_NK.requires_grad)
    runtime = current()
    if wants_gradient and runtime.training:
        rows_R = None if lengths_B is None else _rows_within(lengths_B, a_XK.shape[1]).to(a_XK.device)
        y_XN: Tensor = _Linear.apply(a_XK, weight_NK, rows_R)  # type: ignore[no-untyped-call]
        return y_XN
    return steady_linear(a_XK, weight_NK) if wants_gradient else prepared(weight_NK, runtime).times(a_XK)


class _Linear(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, a_XK: Tensor, weight_NK: Tensor, rows_R: Tensor | None) -> Tensor:
        ctx.weight, ctx.rows, ctx.shape = prepare(weight_NK), rows_R, a_XK.shape[:-1]
        a_RK = _taken(a_XK, rows_R)
        ctx.save_for_backward(a_RK, weight_NK)
        return _put(ctx.weight.times(a_RK), rows_R, ctx.shape)  # 1

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dy_XN: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        a_RK, _ = ctx.saved_tensors  # refuses a weight changed since
        wants_a, wants_weight, _ = ctx.needs_input_grad
        dy_RN = _taken(dy_XN, ctx.rows)
        da_XK = _put(ctx.weight.back(dy_RN), ctx.rows, ctx.shape) if wants_a else None  # 1'
        return da_XK, ctx.weight.outer(dy_RN, a_RK) if wants_weight else None, None


def _rows_within(lengths_B: Tensor, positions: int) -> Tensor:
    """The rows of B x S positions that sentences have, S = ``positions``."""
    places_S = torch.arange(positions, device=lengths_B.device)
    return (places_S < lengths_B.unsqueeze(1)).flatten().nonzero().squeeze(1)


def _taken(block_XW: Tensor, rows_R: Tensor | None) -> Tensor:
    """Some rows of a block, or all of them, without gaps."""
    flat = block_XW.flatten(0, -2)
    return flat.contiguous() if rows_R is None else flat.index_select(0, rows_R)


def _put(block_RW: Tensor, rows_R: Tensor | None, shape: torch.Size) -> Tensor:
    """The block of such a shape with these rows, and zeros elsewhere."""
    if rows_R is None:
        return block_RW.view(*shape, -1)
    flat = block_RW.new_zeros(shape.numel(), block_RW.shape[-1])
    return flat.index_copy_(0, rows_R, block_RW).view(*shape, -1)
