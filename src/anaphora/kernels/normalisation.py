"""Layer normalisation (Ba, Kiros and Hinton 2016, equation 4), forward and back.

1  d = a - mean(a),   s = sqrt(mean(d * d) + eps)          means over one row, so a row stands for itself
2  n = d / s
3  y = gain * n (+ bias)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import OfSum

EPSILON = 1e-5
"""Keeps a row of equal numbers from being divided by zero."""


class Normal(NamedTuple):
    """A block as it was before steps 1 to 3, and what going back needs."""

    a: Tensor
    mean: Tensor
    """Of each row, with 1 as its width."""
    inverse: Tensor
    """1 / s of each row, the same."""


def normal(a_XBW: Tensor, gain_W: Tensor, bias_W: Tensor | None = None) -> tuple[Tensor, Normal]:
    """Steps 1 to 3, and what to keep of them; the bits of a row depend on that row alone."""
    y_XBW, *rows = torch.native_layer_norm(a_XBW, a_XBW.shape[-1:], gain_W, bias_W, EPSILON)
    return y_XBW, Normal(a_XBW, *rows)


def normal_back(saved: Normal, dy_XBW: Tensor, gain_W: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients da and dgain, by torch's reading of what ``kernels/README.md`` derives, in one pass.

    da = (dn - mean(dn) - n * mean(dn * n)) / s with dn = dy * gain; dgain is the sum of dy * n over all rows.
    """
    a_XBW, mean_XB1, inverse_XB1 = saved
    da_XBW, dgain_W, _ = torch.ops.aten.native_layer_norm_backward(
        dy_XBW, a_XBW, a_XBW.shape[-1:], mean_XB1, inverse_XB1, gain_W, None, [True, True, False]
    )
    return da_XBW, dgain_W


@dataclass(frozen=True)
class Normalise(OfSum):
    """y = gain * n (+ bias), where n is the sum of the signals named in ``inputs``, normalised."""

    bias: bool

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        """Steps 1 to 3."""
        y, saved = ops.normal(ops.sum(inputs, keeps=True), "gain", "bias" if self.bias else "")
        return [y], saved

    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[V]:
        """Steps 3 to 1 undone; every input has the same gradient."""
        if self.bias:
            ops.add_vector_gradient("bias", doutputs[0])
        return [ops.normal_back(saved, doutputs[0], "gain")] * len(self.inputs)
