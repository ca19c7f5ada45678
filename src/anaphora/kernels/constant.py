"""Constant input of a sentence, read at every step: y_t = v, a vector of the memory, or y_t = v_t, a column of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import OneToOne


@dataclass(frozen=True)
class Constant(OneToOne):
    """The memory tensor ``<name>.vector`` (B x width) as a signal; of ``source`` it takes the number of rows alone."""

    by_sentence: ClassVar[bool] = True

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = v at every step."""
        return [ops.every_step(ops.sentences("vector"), inputs[0])], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[None]:
        """dv = sum of dy over the steps."""
        ops.add_gradient("vector", doutputs[0])
        return [None]


@dataclass(frozen=True)
class Column(OneToOne):
    """The memory tensor ``<name>.columns`` (B x C x width) as a signal: column t at step t, a clock; the last stays."""

    by_sentence: ClassVar[bool] = True

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        """y_t = v_t."""
        y, places = ops.column("columns", inputs[0])
        return [y], places

    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[None]:
        """dv_t += dy_t; nobody derives by the number of a step."""
        ops.column_back("columns", saved, doutputs[0])
        return [None]

    def obstacle(self) -> str:
        return "no native body"
