"""Parts that make one signal of the sum of several: what they share, and the two that do little more than to add."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls


@dataclass(frozen=True)
class OfSum:
    """Signals of a sum; every input has the same gradient."""

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

    def obstacle(self) -> str:
        return ""


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

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Value]:
        """y = tanh(sum)."""
        y = ops.value(inputs[0].width)
        ops.run("tanh_rows", (y,), (ops.sum(inputs),))
        return (y,), y

    def lower_back(self, ops: Lowering, saved: Value, doutputs: tuple[Value, ...]) -> Values:
        """d = dy (1 - y^2), the same for every input."""
        d = ops.value(saved.width)
        ops.run("tanh_rows_back", (d,), (saved, doutputs[0]))
        return (d,) * len(self.inputs)


@dataclass(frozen=True)
class Add(OfSum):
    """y = sum of inputs: a residual connection around a layer."""

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = sum."""
        return (sum(inputs[1:], inputs[0]),), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """d = dy for every input."""
        return (doutputs[0],) * len(self.inputs)

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, None]:
        """y = sum."""
        return (ops.sum_in(ops.value(inputs[0].width), inputs),), None

    def lower_back(self, ops: Lowering, saved: None, doutputs: tuple[Value, ...]) -> Values:
        """d = dy for every input."""
        return (doutputs[0],) * len(self.inputs)
