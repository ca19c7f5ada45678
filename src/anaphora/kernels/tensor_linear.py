"""One product of tensors outside of every loop: y = W a for each row.

    1  y  = W a
    1' da = W' dy,   dW = sum dy a'

In training all three are made by its backend (``tensor_backends.py``), like those of the loop. Elsewhere a row has the
same bits in any batch, and the gradient is left to autograd.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import apply_derived
from anaphora.kernels.runtime import current
from anaphora.kernels.tensor_backends import prepare, prepare_for_inference, steady_linear


def linear(a_XK: Tensor, weight_NK: Tensor, lengths_B: Tensor | None = None) -> Tensor:
    """y = W a, ... x N, for every row of ... x K.

    With ``lengths_B``, a is B x S x K and what lies past the end of a sentence is of no consequence: in training, zero.
    """
    wants_gradient = torch.is_grad_enabled() and (a_XK.requires_grad or weight_NK.requires_grad)
    runtime = current()
    if wants_gradient and runtime.training:
        return _train_product(a_XK, weight_NK, None if lengths_B is None else _rows_within(lengths_B, a_XK))
    return steady_linear(a_XK, weight_NK) if wants_gradient else prepare_for_inference(weight_NK, runtime).times(a_XK)


def _train_product(a_XK: Tensor, weight_NK: Tensor, rows_R: Tensor | None) -> Tensor:
    weight, shape = prepare(weight_NK), a_XK.shape[:-1]
    wants_a, wants_weight = a_XK.requires_grad, weight_NK.requires_grad

    def forward(recording: bool, a_XK: Tensor, weight_NK: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        a_RK = _take(a_XK, rows_R)
        return _scatter(weight.times(a_RK), rows_R, shape), (a_RK, weight_NK)  # 1

    def backward(saved: Sequence[Tensor], dy_XN: Tensor) -> tuple[Tensor | None, ...]:
        dy_RN = _take(dy_XN, rows_R)
        da_XK = _scatter(weight.back(dy_RN), rows_R, shape) if wants_a else None  # 1'
        return da_XK, weight.outer(dy_RN, saved[0]) if wants_weight else None

    return apply_derived(forward, backward, a_XK, weight_NK)


def _rows_within(lengths_B: Tensor, a_BSK: Tensor) -> Tensor:
    """Return the rows of the positions that sentences have."""
    places_S = torch.arange(a_BSK.shape[1], device=lengths_B.device)
    return (places_S < lengths_B.unsqueeze(1)).flatten().nonzero().squeeze(1).to(a_BSK.device)


def _take(block_XW: Tensor, rows_R: Tensor | None) -> Tensor:
    """Some rows of a block, or all of them, without gaps."""
    flat = block_XW.flatten(0, -2)
    return flat.contiguous() if rows_R is None else flat.index_select(0, rows_R)


def _scatter(block_RW: Tensor, rows_R: Tensor | None, shape: torch.Size) -> Tensor:
    """Return the block of such a shape with these rows, and zeros elsewhere."""
    if rows_R is None:
        return block_RW.view(*shape, -1)
    flat = block_RW.new_zeros(shape.numel(), block_RW.shape[-1])
    return flat.index_copy_(0, rows_R, block_RW).view(*shape, -1)
