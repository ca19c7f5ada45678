"""One product outside of every loop: y = W a for each row, of arrays in C or of tensors (``tensor_backends.py``)."""

from typing import Any, TypeVar

import numpy as np

from anaphora.kernels.compiled.gemm import gemm
from anaphora.kernels.prepared import Weight, packed
from anaphora.kernels.runtime import current

Block = TypeVar("Block", bound=Weight)


def linear(a_XK: Block, weight_NK: Any, lengths_B: Any = None) -> Block:
    """y = W a, ... x N, for every row of ... x K, in the current runtime; both are arrays or both are tensors.

    With ``lengths_B``, a is B x S x K and what lies past the end of a sentence is of no consequence. A row has the same
    bits in any batch, but in the training of tensors. Arrays are of single precision, and have no gradient.
    """
    found: Any
    if isinstance(a_XK, np.ndarray):
        found = gemm(a_XK, packed(weight_NK, current()))
    else:
        from anaphora.kernels import tensor_backends

        found = tensor_backends.linear(a_XK, weight_NK, lengths_B)
    return found  # type: ignore[no-any-return]
