"""Maxout over pairs (Goodfellow et al. 2013), as Cho et al. (2014) and Bahdanau et al. (2015, appendix A.2.2) read out.

1  t   = sum of inputs               2 R numbers
2  o_j = max(t_{2j-1}, t_{2j})       R numbers
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.sums import OfSum


@dataclass(frozen=True)
class Maxout(OfSum):
    """The larger of every two neighbours in a sum; of two that are equal, the gradient goes to the first."""

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Steps 1 and 2; keeps which of two was the first to be largest."""
        t = sum(inputs[1:], inputs[0])  # 1
        odd, even = t[..., 0::2], t[..., 1::2]
        return (torch.maximum(odd, even),), odd >= even  # 2

    def backward(self, matmuls: Matmuls, saved: Tensor, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Step 2 undone; every input has the same gradient."""
        do = doutputs[0]
        dt = do.new_empty(*do.shape[:-1], 2 * do.shape[-1])
        torch.mul(do, saved, out=dt[..., 0::2])
        torch.mul(do, ~saved, out=dt[..., 1::2])
        return (dt,) * len(self.inputs)

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Value]:
        """Steps 1 and 2."""
        t, o = ops.sum_in(ops.value(inputs[0].width), inputs), ops.value(inputs[0].width // 2)  # 1
        ops.run("maxout_rows", (o,), (t,))  # 2
        return (o,), t

    def lower_back(self, ops: Lowering, saved: Value, doutputs: tuple[Value, ...]) -> Values:
        """Step 2 undone; every input has the same gradient."""
        dt = ops.value(saved.width)
        ops.run("maxout_rows_back", (dt,), (saved, doutputs[0]))
        return (dt,) * len(self.inputs)
