"""Parts that make one signal of the sum of several: what they share, and the two that do little more than to add."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from anaphora.kernels.matmul import Matmuls


@dataclass(frozen=True)
class OfSum:
    """What such a part reads and writes; every input has the same gradient."""

    name: str
    inputs: tuple[str, ...]
    target: str

    by_sentence: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        return self.inputs

    @property
    def writes(self) -> tuple[str, ...]:
        return (self.target,)


@dataclass(frozen=True)
class Activate(OfSum):
    """y = tanh(sum of inputs): the combination of context and state in an attentional decoder."""

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Tensor]:
        """y = tanh(sum)."""
        y = torch.tanh(sum(inputs[1:], inputs[0]))
        return (y,), y

    def backward(self, matmuls: Matmuls, saved: Tensor, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """d = dy (1 - y^2), the same for every input."""
        return (doutputs[0] * (1 - saved * saved),) * len(self.inputs)


@dataclass(frozen=True)
class Add(OfSum):
    """y = sum of inputs: a residual connection around a layer."""

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = sum."""
        return (sum(inputs[1:], inputs[0]),), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """d = dy for every input."""
        return (doutputs[0],) * len(self.inputs)
