"""The weights of a network by name, and projections with them."""

from collections.abc import Mapping

import numpy as np

from anaphora.files import DamagedError
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.linear import linear

NOTHING = np.zeros(0, np.float32)
"""A bias that there is not."""


def freeze(weight: Array) -> Array:
    """Return a view that never changes, so that what is made of it for products is kept."""
    weight = weight.view()
    weight.flags.writeable = False
    return weight


class Weights:
    """The tensors of a checkpoint by name."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._tensors = {name: freeze(tensor) for name, tensor in tensors.items()}

    def __getitem__(self, name: str) -> Array:
        """Return a tensor; nothing has no name. DamagedError for one that there is not."""
        if not name:
            return NOTHING
        if name not in self._tensors:
            raise DamagedError(f"The description of the network names a tensor {name}, which its weights have not.")
        return self._tensors[name]

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def by_prefix(self, prefix: str) -> dict[str, Array]:
        """Return the tensors whose names begin so, by the rest of their names."""
        return {name.removeprefix(prefix): one for name, one in self._tensors.items() if name.startswith(prefix)}


def affine(x: Array, weight_NK: Array, bias_N: Array = NOTHING) -> Array:
    """W x + b for every row, b where it has numbers."""
    y = linear(x, weight_NK)
    return y + bias_N if bias_N.size else y
