"""Weights made ready for the products of the current runtime.

In training a weight is prepared once for each pass. Products without a gradient use a parameter many times before it
changes, so it is prepared once for each of its values: what was prepared is kept until the parameter changes in place,
gets other memory, or is gone. torch counts changes in place, but those of its fused optimizers: so whatever an
optimizer has stepped is dropped. What is computed from parameters is prepared for one use.
"""

import weakref
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import Parameter, functional
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from anaphora.kernels.backends import Multiplication, PreparedWeight, TorchWeight, for_inference, for_training
from anaphora.kernels.runtime import Runtime, current

Made = TypeVar("Made")


def prepare(weight_NK: Tensor, runtime: Runtime | None = None) -> PreparedWeight:
    """Return a weight for products and their gradients in a runtime, the current one where none is given."""
    runtime = runtime or current()
    if runtime.training:
        return for_training(runtime.training_backend, weight_NK)
    return _EvaluationWeight(weight_NK, runtime)


def prepare_for_inference(weight_NK: Tensor, runtime: Runtime) -> Multiplication:
    """Return a weight for products without a gradient in a runtime; a parameter's is kept while it has this value."""
    backend = runtime.inference_backend
    if not runtime.caches_weights or not isinstance(weight_NK, Parameter) or weight_NK.is_inference():
        return for_inference(backend, weight_NK)
    return keep(weight_NK, "product", backend, lambda: for_inference(backend, weight_NK))


def keep(weight: Parameter, what: str, state: Hashable, make: Callable[[], Made]) -> Made:
    """Return what ``make`` made of a parameter, kept while its value and everything else in ``state`` stay the same.

    ``what`` tells apart what is made of one parameter.
    """
    key, state = id(weight), (state, weight._version, weight.data_ptr())
    own = _kept.get(key)
    if own is None or own.weight() is not weight:
        own = _Kept(weakref.ref(weight, partial(_forget, _kept, key)), {})
    found = own.made.get(what)
    if found and found[0] == state:
        return found[1]  # type: ignore[no-any-return]
    with torch.inference_mode(False), torch.no_grad():
        made = make()
    own.made[what] = state, made
    _kept[key] = own
    return made


class _Kept(NamedTuple):
    weight: weakref.ref[Tensor]
    made: dict[str, tuple[Hashable, Any]]
    """With the state when it was made."""


_kept: dict[int, _Kept] = {}
"""By the identity of the parameter."""


def _forget(kept: dict[int, _Kept], key: int, weight: weakref.ref[Tensor]) -> None:
    """Called at the end of a process, too, when the names of this module are gone."""
    if key in kept and kept[key].weight is weight:
        del kept[key]


def state_of(tensor: Tensor) -> tuple[int, int, int]:
    """Return what changes when a tensor is another one, when its numbers change, or where they lie."""
    return id(tensor), tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


def steps_of_optimizers() -> int:
    """Return the number of steps that optimizers have taken: a state for what is made of several parameters."""
    return _steps


_steps = 0


def _drop_updated(optimizer: Optimizer, *arguments: Any) -> None:
    global _steps
    _steps += 1
    for group in optimizer.param_groups:
        for weight in group["params"]:
            _kept.pop(id(weight), None)


register_optimizer_step_post_hook(_drop_updated)


class _EvaluationWeight(TorchWeight):
    """A weight outside of training: the first product as in inference, the others by torch."""

    def __init__(self, weight_NK: Tensor, runtime: Runtime) -> None:
        super().__init__(weight_NK, functional.linear)
        self._forward = prepare_for_inference(weight_NK, runtime)

    def times(self, a_XK: Tensor) -> Tensor:
        return self._forward.times(a_XK)
