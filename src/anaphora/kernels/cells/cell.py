"""Recurrent unit, as the time loop sees it: one step, forward and backward, in the operations of ``ops.py``.

A cell's input arrives already projected (all gates side by side). Its recurrent products keep their operands, and the
gradient of each matrix is made after the loop. A new unit is one file like ``gru.py`` and one line in ``__init__.py``.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from anaphora.kernels.ops import Ops, V
from anaphora.records import Record


class Cell(Record, ABC, extra="forbid"):
    """One kind of recurrent unit: its options, and the mathematics of one step."""

    kind: str
    """The unit's name."""

    gates: ClassVar[int]
    """G / H: how many blocks of H the projected input has."""
    state: ClassVar[tuple[str, ...]] = ("h",)
    """The names of what the unit carries from step to step; the first is its output."""

    @property
    def matmuls(self) -> tuple[tuple[str, int], ...]:
        """The recurrent products of a step in order: the name of the matrix and its height in blocks of H.

        Where a unit does not say otherwise, one, of the previous output.
        """
        return (("h", self.gates),)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The vectors of width H that the unit has besides its matrices and the bias of its input."""
        return ()

    @abstractmethod
    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], Any]:
        """One step: the projected input and the previous state give the new state and what ``backward`` needs."""

    @abstractmethod
    def backward(self, ops: Ops[V], saved: Any, dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Return the gradient of the new state gives those of the projected input and of the previous state."""

    def obstacle(self) -> str:
        return ""

    def gates_of(self, saved: Any) -> dict[str, Any]:
        """The gates of a step by name (i, f, g, o; r, z, g), from what ``forward`` saved; none for units without."""
        return {}

    def start_bias(self, bias_G: Any) -> None:
        """Make of the bias of the projected input, once it is filled, what this unit wants to start training with."""


class Forgetting(Cell):
    """A unit with a forget gate, whose block is the second of its input."""

    forget_bias: float = 1.0
    """Initial bias of the forget gate (1: Jozefowicz et al. 2015; the papers before set 0)."""

    def start_bias(self, bias_G: Any) -> None:
        bias_G.chunk(self.gates)[1].add_(self.forget_bias)
