"""What a sentence says once and every step hears: y_t = v, a vector of the memory."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from anaphora.kernels.products import Products


@dataclass(frozen=True)
class Constant:
    """The memory tensor ``<name>.vector`` (B x width) as a signal; of ``beside`` it takes the number of rows alone."""

    name: str
    beside: str
    target: str

    by_sentence: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        """What it stands beside."""
        return (self.beside,)

    @property
    def writes(self) -> tuple[str, ...]:
        """The target."""
        return (self.target,)

    def forward(self, products: Products, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = v at every step."""
        steps, sentences = inputs[0].shape[:2]
        v_BW = products.of(self.name).sentences("vector", sentences)
        return (v_BW.expand(steps, -1, -1),), None

    def backward(self, products: Products, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """dv = sum of dy over the steps."""
        products.of(self.name).add_gradient("vector", doutputs[0].sum(0))
        return (None,)
