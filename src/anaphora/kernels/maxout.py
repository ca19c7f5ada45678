"""Maxout over pairs (Goodfellow et al. 2013), as Cho et al. (2014) and Bahdanau et al. (2015, appendix A.2.2) read out.

1  t   = sum of inputs               2 R numbers
2  o_j = max(t_{2j-1}, t_{2j})       R numbers
"""

from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.sums import OfSum


@dataclass(frozen=True)
class Maxout(OfSum):
    """The larger of every two neighbours in a sum; of two that are equal, the gradient goes to the first."""

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], V]:
        """Steps 1 and 2."""
        t = ops.sum(inputs, keeps=True)  # 1
        return [ops.maxout(t)], t  # 2

    def backward(self, ops: Ops[V], saved: V, doutputs: Sequence[V]) -> Sequence[V]:
        """Step 2 undone; every input has the same gradient."""
        return [ops.maxout_back(saved, doutputs[0])] * len(self.inputs)
