"""Parts that make one signal of the sum of several: what they share, and the two that do little more than to add."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anaphora.kernels.ops import Ops, V


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

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], V]:
        """y = tanh(sum)."""
        y = ops.tanh(ops.sum(inputs))
        return [y], y

    def backward(self, ops: Ops[V], saved: V, doutputs: Sequence[V]) -> Sequence[V]:
        """d = dy (1 - y^2), the same for every input."""
        return [ops.tanh_back(saved, doutputs[0])] * len(self.inputs)


@dataclass(frozen=True)
class Add(OfSum):
    """y = sum of inputs: a residual connection around a layer."""

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = sum."""
        return [ops.sum(inputs, keeps=True)], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[V]:
        """d = dy for every input."""
        return [doutputs[0]] * len(self.inputs)
