"""One gate for a whole vector, as Gulcehre et al. (2015, section 4.2) let a language model have its say.

1  g = sigm(a)     one number
2  y = g x
"""

from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import OneToOne


@dataclass(frozen=True)
class Gated(OneToOne):
    """A signal multiplied by the sigmoid of one number a row."""

    gate: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.gate, self.source)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], tuple[V, V]]:
        """Steps 1 and 2."""
        y, g = ops.fused("gate_rows", self._step, inputs, (ops.width(inputs[1]), 1))
        return [y], (g, inputs[1])

    def _step(self, ops: Ops[V], a: V, x: V) -> Sequence[V]:
        g = ops.sigmoid(a)  # 1
        return ops.mul(g, x), g  # 2

    def backward(self, ops: Ops[V], saved: tuple[V, V], doutputs: Sequence[V]) -> Sequence[V]:
        """Steps 2 and 1 undone: dg = x' dy, dx = g dy; da = dg (g - g^2)."""
        read = *saved, doutputs[0]
        return ops.fused("gate_rows_back", self._step_back, read, (1, ops.width(saved[1])))

    def _step_back(self, ops: Ops[V], g: V, x: V, dy: V) -> Sequence[V]:
        dg = ops.row_sum(ops.mul(x, dy))  # 2
        return ops.sigmoid_back(g, dg), ops.mul(g, dy)  # 1
