"""The number of a step, for parts that look at places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import previous


@dataclass(frozen=True)
class Clock:
    """t = t_{t-1} + 1: the number of the step, 1 at the first where ``clock`` starts from 0."""

    name: str = "clock"

    by_sentence: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (previous("clock"),)
    writes: ClassVar[tuple[str, ...]] = ("clock",)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """t + 1."""
        return [ops.add_number(inputs[0], 1)], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[None]:
        """Nobody derives by the number of a step."""
        return [None]

    def obstacle(self) -> str:
        return ""
