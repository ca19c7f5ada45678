"""Autograd functions with derived gradients: no autocast inside, and no second derivative.

Most losses are derived on the way forward, while what their gradients need is at hand (``derived_loss``). A loss is
proportional to the gradient that comes back to it, so going back has nothing to do but to scale.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import torch
from torch import Tensor

Output = TypeVar("Output", Tensor, tuple[Tensor, ...])

Forward = Callable[..., tuple[Output, Sequence[Tensor]]]
"""Function from whether gradients are wanted, and tensors, to the output or several, and tensors of ``Backward``."""

Backward = Callable[..., Sequence[Tensor | None]]
"""Function from these and the gradient of each output to the gradient of each tensor; None for one that has none."""

Derive = Callable[..., tuple[Tensor, tuple[Tensor, ...]]]
"""Function from whether gradients are wanted, and leaves, to the loss and each leaf's gradient, none if unwanted."""


def autocasts(device: str) -> bool:
    """True if torch chooses precisions on this kind of device now; some have no autocast."""
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def outside_autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function's ``forward`` or ``backward`` in the precision of its tensors, whatever is around it.

    Which products are made in which precision is for the products to say; the two ways must agree on it.
    """

    @wraps(function)
    def outside(ctx: Any, *arguments: Any) -> Any:
        device = next(argument.device.type for argument in arguments if isinstance(argument, Tensor))
        if not autocasts(device):
            return function(ctx, *arguments)
        with torch.autocast(device, enabled=False):
            return function(ctx, *arguments)

    return outside


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function's ``backward`` refuse ``create_graph=True``.

    torch's own decorator refuses only where the incoming gradient has a history, and else gives gradients that look
    constant: a penalty on them would silently have no effect. Raises NotImplementedError in ``backward``, when it is
    asked for gradients that could be differentiated again.
    """

    @wraps(backward)
    def refusing(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise NotImplementedError(
                "gradients of gradients are not available, because this gradient is derived by hand: "
                "call backward() or autograd.grad() without create_graph=True."
            )
        return backward(ctx, *gradients)

    return refusing


def apply_derived(forward: Forward[Output], backward: Backward, *tensors: Tensor) -> Output:
    """Return what ``forward`` gives over tensors, with the gradients of ``backward``.

    Changes of saved tensors before the backward pass are refused.
    """
    output: Output = _DerivedFunction.apply(forward, backward, torch.is_grad_enabled(), *tensors)  # type: ignore[no-untyped-call]
    return output


class _DerivedFunction(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, forward: Forward[Output], backward: Backward, recording: bool, *tensors: Tensor) -> Output:
        output, saved = forward(recording and any(ctx.needs_input_grad), *tensors)
        ctx.backward = backward
        ctx.save_for_backward(*saved)
        return output

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, *doutputs: Tensor) -> tuple[Tensor | None, ...]:
        return (None, None, None, *ctx.backward(ctx.saved_tensors, *doutputs))


def derived_loss(derive: Derive, *leaves: Tensor) -> Tensor:
    """The loss that ``derive`` makes of ``leaves``, in the type of the first of them, with its derived gradients."""

    def forward(recording: bool, *leaves: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        loss, gradients = derive(recording, *leaves)
        return loss.to(leaves[0].dtype), gradients

    return apply_derived(forward, lambda gradients, dloss: [gradient * dloss for gradient in gradients], *leaves)
