"""Weights in the form that matrix products read, and their owner.

In training a weight is prepared once for each pass. Products without a gradient use a parameter many times before it
changes, so their runtime has an owner, ``PreparedWeights``. A predictor's owner lives as long as the predictor. The
training loop drops the weights that an update changed. Tensors computed from parameters are prepared for one use.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from weakref import ref

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from anaphora.kernels.backends import Multiplication, PreparedWeight, TorchWeight, for_inference, for_training
from anaphora.kernels.runtime import Runtime, current

Made = TypeVar("Made")


class PreparedWeights:
    """Owner of all that is made of weights once: right sides of products, tables of words, lists of operations.

    It belongs to one predictor or one training. All that is made of a weight goes with it. A weight that changes in
    place, or gets other memory, is noticed; torch's fused optimizers leave no trace, so their weights are dropped.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], tuple[ref[Tensor], Hashable, Any]] = {}
        self.bound: OrderedDict[Hashable, Any] = OrderedDict()
        """Lists of operations that are bound to the memory of sentences: see ``stepping.py``."""

    def keep(self, weight: Tensor, what: str, state: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` made of a weight, as long as its value and all else in ``state`` stay the same.

        ``what`` tells apart what is made of one weight.
        """
        key, state = (id(weight), what), (state, state_of(weight))
        found = self._made.get(key)
        if found and found[0]() is weight and found[1] == state:
            return found[2]  # type: ignore[no-any-return]
        with torch.inference_mode(False), torch.no_grad():
            made = make()
        self._made[key] = ref(weight, partial(_forget, ref(self), key)), state, made
        return made

    def drop(self, weights: Iterable[Tensor]) -> None:
        """Forget what was made of some weights, and every table of words, since it is made of several."""
        dropped = {id(weight) for weight in weights}
        for key in list(self._made):  # a copy: weights that go take their own along meanwhile
            if key[0] in dropped or key[1] == "words":
                self._made.pop(key, None)


def _forget(owner: ref[PreparedWeights], key: tuple[int, str], weight: ref[Tensor]) -> None:
    if found := owner():
        found._made.pop(key, None)


def with_prepared_weights(runtime: Runtime) -> Runtime:
    """Return the runtime with an owner for what is made of weights."""
    return replace(runtime, prepared=PreparedWeights())


def prepare(weight_NK: Tensor, runtime: Runtime | None = None) -> PreparedWeight:
    """Return a weight for products and their gradients in a runtime, the current one where none is given."""
    runtime = runtime or current()
    if runtime.training:
        return for_training(runtime.training_backend, weight_NK)
    return _EvaluationWeight(weight_NK, runtime)


def prepare_for_inference(weight_NK: Tensor, runtime: Runtime) -> Multiplication:
    """Return a weight for products without a gradient in a runtime; a parameter's is kept by its owner."""
    backend = runtime.inference_backend
    if not runtime.prepared or not isinstance(weight_NK, Parameter) or weight_NK.is_inference():
        return for_inference(backend, weight_NK)
    return runtime.prepared.keep(weight_NK, "product", backend, lambda: for_inference(backend, weight_NK))


def state_of(tensor: Tensor) -> tuple[int, int, int]:
    """Return what changes when a tensor is another one, when its numbers change, or where they lie."""
    return id(tensor), tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


class _EvaluationWeight(TorchWeight):
    """A weight outside of training: the first product as in inference, the others by torch."""

    def __init__(self, weight_NK: Tensor, runtime: Runtime) -> None:
        super().__init__(weight_NK, functional.linear)
        self._forward = prepare_for_inference(weight_NK, runtime)

    def times(self, a_XK: Tensor) -> Tensor:
        return self._forward.times(a_XK)
