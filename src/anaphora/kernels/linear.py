"""One product outside of every loop: y = W a for each row.

    1  y  = W a
    1' da = W' dy,   dW = sum dy a'

In training all three are made by its backend (``backends.py``), like those of the loop. Elsewhere a row has the same
bits in any batch, and the gradient is left to autograd.
"""

from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.autograd import once_differentiable, outside_autocast
from anaphora.kernels.backends import steady_linear
from anaphora.kernels.prepared import prepare, prepared
from anaphora.kernels.runtime import current


def linear(a_XK: Tensor, weight_NK: Tensor) -> Tensor:
    """y = W a, ... x N, for every row of ... x K."""
    wants_gradient = torch.is_grad_enabled() and (a_XK.requires_grad or weight_NK.requires_grad)
    runtime = current()
    if wants_gradient and runtime.training:
        y_XN: Tensor = _Linear.apply(a_XK, weight_NK)  # type: ignore[no-untyped-call]
        return y_XN
    return steady_linear(a_XK, weight_NK) if wants_gradient else prepared(weight_NK, runtime).times(a_XK)


class _Linear(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, a_XK: Tensor, weight_NK: Tensor) -> Tensor:
        ctx.weight = prepare(weight_NK)
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
