"""Layer normalisation (Ba, Kiros and Hinton 2016, equation 4), forward and back.

1  d = a - mean(a),   s = sqrt(mean(d * d) + eps)          means over one row, so a row stands for itself
2  n = d / s
3  y = gain * n (+ bias)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import OfSum

EPSILON = 1e-5
"""Keeps a row of equal numbers from being divided by zero."""


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
