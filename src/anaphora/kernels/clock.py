"""The number of a step, for parts that look at places."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import previous


@dataclass(frozen=True)
class Clock:
    """t = t_{t-1} + 1: the number of the step, 1 at the first where ``clock`` starts from 0."""

    name: str = "clock"

    by_sentence: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (previous("clock"),)
    writes: ClassVar[tuple[str, ...]] = ("clock",)

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """t + 1."""
        return (inputs[0] + 1,), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """Nobody derives by the number of a step."""
        return (None,)

    def obstacle(self) -> str:
        """None."""
        return ""

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, None]:
        """t + 1."""
        t = ops.value(1)
        ops.run("add_vector", (t,), (*inputs, ops.number(1)))
        return (t,), None

    def lower_back(self, ops: Lowering, saved: None, doutputs: tuple[Value | None, ...]) -> tuple[Value | None, ...]:
        """Nobody derives by the number of a step."""
        return (None,)
