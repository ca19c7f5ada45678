"""One gate for a whole vector, as Gulcehre et al. (2015, section 4.2) let a language model have its say.

1  g = sigm(a)     one number
2  y = g x
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from anaphora.kernels.pointwise import sigmoid_
from anaphora.kernels.products import Products


@dataclass(frozen=True)
class Gated:
    """A signal that one number a row, through the logistic function, lets through."""

    name: str
    gate: str
    source: str
    target: str

    by_sentence: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        """a and x."""
        return (self.gate, self.source)

    @property
    def writes(self) -> tuple[str, ...]:
        """The target."""
        return (self.target,)

    def forward(
        self, products: Products, inputs: tuple[Tensor, ...]
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, Tensor]]:
        """Steps 1 and 2."""
        a, x = inputs
        g = sigmoid_(a.clone())  # 1
        return (g * x,), (g, x)  # 2

    def backward(
        self, products: Products, saved: tuple[Tensor, Tensor], doutputs: tuple[Tensor, ...]
    ) -> tuple[Tensor, ...]:
        """Steps 2 and 1 undone: dg = x' dy, dx = g dy; da = dg (g - g^2)."""
        (g, x), (dy,) = saved, doutputs
        dg = (x * dy).sum(-1, keepdim=True)  # 2
        return dg * (g - g * g), g * dy  # 1
