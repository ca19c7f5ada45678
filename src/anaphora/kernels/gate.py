"""One gate for a whole vector, as Gulcehre et al. (2015, section 4.2) let a language model have its say.

1  g = sigm(a)     one number
2  y = g x
"""

from dataclasses import dataclass

from torch import Tensor

from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import OneToOne
from anaphora.kernels.pointwise import sigmoid_


@dataclass(frozen=True)
class Gated(OneToOne):
    """A signal multiplied by the sigmoid of one number a row."""

    gate: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.gate, self.source)

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], tuple[Tensor, Tensor]]:
        """Steps 1 and 2."""
        a, x = inputs
        g = sigmoid_(a.clone())  # 1
        return (g * x,), (g, x)  # 2

    def backward(
        self, matmuls: Matmuls, saved: tuple[Tensor, Tensor], doutputs: tuple[Tensor, ...]
    ) -> tuple[Tensor, ...]:
        """Steps 2 and 1 undone: dg = x' dy, dx = g dy; da = dg (g - g^2)."""
        (g, x), (dy,) = saved, doutputs
        dg = (x * dy).sum(-1, keepdim=True)  # 2
        return dg * (g - g * g), g * dy  # 1

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, tuple[Value, Value]]:
        """Steps 1 and 2."""
        a, x = inputs
        g, y = ops.value(1), ops.value(x.width)
        ops.run("gate_rows", (y, g), (a, x))
        return (y,), (g, x)

    def lower_back(self, ops: Lowering, saved: tuple[Value, Value], doutputs: tuple[Value, ...]) -> Values:
        """Steps 2 and 1 undone: dg = x' dy, dx = g dy; da = dg (g - g^2)."""
        g, x = saved
        da, dx = ops.value(1), ops.value(x.width)
        ops.run("gate_rows_back", (da, dx), (g, x, doutputs[0]))
        return da, dx
