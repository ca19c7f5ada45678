"""Weights in the form that matrix products read, and their owner.

In training a weight is prepared once for each pass. Products without a gradient use a parameter many times before it
changes, so their runtime has an owner, ``PreparedWeights``. A predictor's owner lives as long as the predictor. The
training loop drops the weights that an update changed. What is computed from weights is prepared for one use.

A weight is a parameter of torch, or an array of numpy that cannot be written to and so never changes.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import ref

import numpy as np

from anaphora.kernels.backends import precision_of
from anaphora.kernels.compiled.gemm import PackedMatrix, pack_rows
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.runtime import Runtime

if TYPE_CHECKING:
    from torch import Tensor

Weight: TypeAlias = "Array | Tensor"

Made = TypeVar("Made")


class PreparedWeights:
    """Owner of all that is made of weights once: right sides of products, tables of words, lists of operations.

    It belongs to one predictor or one training. All that is made of a weight goes with it. A weight that changes in
    place, or gets other memory, is noticed; torch's fused optimizers leave no trace, so their weights are dropped.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], tuple[ref[Any], Hashable, Any]] = {}
        self.bound: OrderedDict[Hashable, Any] = OrderedDict()
        """Lists of operations that are bound to the memory of sentences: see ``stepping.py``."""

    def keep(self, weight: Weight, what: str, state: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` made of a weight, as long as its value and all else in ``state`` stay the same.

        ``what`` tells apart what is made of one weight.
        """
        key, state = (id(weight), what), (state, state_of(weight))
        found = self._made.get(key)
        if found and found[0]() is weight and found[1] == state:
            return found[2]  # type: ignore[no-any-return]
        made = make()
        self._made[key] = ref(weight, partial(_forget, ref(self), key)), state, made
        return made

    def drop(self, weights: Iterable[Weight]) -> None:
        """Forget what was made of some weights, and every table of words, since it is made of several."""
        dropped = {id(weight) for weight in weights}
        for key in list(self._made):  # a copy: weights that go take their own along meanwhile
            if key[0] in dropped or key[1] == "words":
                self._made.pop(key, None)


def _forget(owner: ref[PreparedWeights], key: tuple[int, str], weight: ref[Any]) -> None:
    if found := owner():
        found._made.pop(key, None)


def with_prepared_weights(runtime: Runtime) -> Runtime:
    """Return the runtime with an owner for what is made of weights."""
    return replace(runtime, prepared=PreparedWeights())


def packed(weight_NK: Weight, runtime: Runtime) -> PackedMatrix:
    """Return a weight for products without a gradient in C, in a runtime that makes them so; its owner keeps it."""
    backend = runtime.inference_backend
    make = partial(pack_rows, array_of(weight_NK), precision_of(backend))
    if not runtime.prepared or not is_kept(weight_NK):
        return make()
    return runtime.prepared.keep(weight_NK, "packed", backend, make)


def is_kept(weight: Weight) -> bool:
    """True if what is made of it may be kept: of a weight, not of what was computed from others."""
    if isinstance(weight, np.ndarray):
        return not weight.flags.writeable
    from torch.nn import Parameter

    return isinstance(weight, Parameter) and not weight.is_inference()


def array_of(weight: Weight) -> Array:
    """Return the numbers of an array or of a tensor on the processor, in the same memory."""
    if isinstance(weight, np.ndarray):
        return weight
    return weight.detach().numpy()


def state_of(weight: Weight) -> tuple[int, int, int]:
    """Return the state of a weight, which changes with its identity, its numbers, or their address."""
    if isinstance(weight, np.ndarray):
        return id(weight), weight.ctypes.data, 0
    return id(weight), weight.data_ptr(), 0 if weight.is_inference() else weight._version
