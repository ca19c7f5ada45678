"""The autograd function of losses whose gradients are made on the way forward, while what they need is at hand.

A loss is proportional to the gradient that comes back to it, so going back has nothing to do but to scale.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.autograd import once_differentiable, outside_autocast

Derive = Callable[..., tuple[Tensor, tuple[Tensor, ...]]]
"""From whether gradients are wanted, and the leaves, to the loss and the gradient of every leaf (none if unwanted)."""


def derived_loss(derive: Derive, *leaves: Tensor) -> Tensor:
    """The loss that ``derive`` makes of ``leaves``, in the type of the first of them, with its derived gradients."""
    loss: Tensor = _DerivedLoss.apply(derive, torch.is_grad_enabled(), *leaves)  # type: ignore[no-untyped-call]
    return loss


class _DerivedLoss(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, derive: Derive, recording: bool, *leaves: Tensor) -> Tensor:
        loss, gradients = derive(recording and any(ctx.needs_input_grad), *leaves)
        ctx.save_for_backward(*gradients)
        return loss.to(leaves[0].dtype)

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dloss: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *(gradient * dloss for gradient in ctx.saved_tensors)
