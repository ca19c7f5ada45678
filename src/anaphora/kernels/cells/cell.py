"""Recurrent unit, as the time loop sees it: one step, forward and backward, in the operations of ``ops.py``.

A cell's input arrives already projected (all gates side by side). Its recurrent products keep their operands, and the
gradient of each matrix is made after the loop. A new unit is one file like ``gru.py`` and one line in ``__init__.py``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from anaphora.kernels.ops import Ops, V
from anaphora.records import Record

LSTM_GATES = {"i": "input gate", "f": "forget gate", "o": "output gate"}


class Cell(Record, ABC, extra="forbid"):
    """One kind of recurrent unit: its options, and the mathematics of one step."""

    kind: str
    """The unit's name."""

    gate_names: ClassVar[Mapping[str, str]] = {}
    """Words for its gates, by letter."""
    candidate: ClassVar[str] = ""
    """The letter of the block that is no gate but the new value, between -1 and 1."""

    @property
    @abstractmethod
    def blocks(self) -> str:
        """A letter for each block of H of the projected input, in order: "ifgo"."""

    @property
    def state(self) -> tuple[str, ...]:
        """The names of what the unit carries from step to step; the first is its output."""
        return ("h",)

    @property
    def history(self) -> tuple[str, ...]:
        """The fields of ``state`` that the next step reads; by default all."""
        return self.state

    @property
    def gates(self) -> int:
        """G / H: the number of blocks."""
        return len(self.blocks)

    @property
    def matmuls(self) -> tuple[tuple[str, str], ...]:
        """The recurrent products of a step in order: the name of the matrix and the blocks that it adds to.

        By default one, of the previous output, for all blocks.
        """
        return (("h", self.blocks),)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The vectors of width H that the unit has besides its matrices and the bias of its input."""
        return ()

    @abstractmethod
    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], Any]:
        """One step: the projected input and the previous state give the new state and what ``backward`` needs."""

    @abstractmethod
    def backward(self, ops: Ops[V], saved: Any, dstate: Sequence[V]) -> tuple[V, tuple[V | None, ...]]:
        """Return the gradients of the projected input and of the previous state, None for what is unread."""

    def obstacle(self) -> str:
        return ""

    def gates_of(self, saved: Any) -> dict[str, Any]:
        """Return the gates of a step by letter, from what ``forward`` saved; none for units without."""
        return {}

    def kept(self, gates: Mapping[str, Any]) -> Any:
        """Return the fraction of its memory, the last of ``state``, that a step keeps; None if no gate decides it."""
        return None

    def start_bias(self, bias_G: Any) -> None:
        """Make of the bias of the projected input, once it is filled, what this unit wants to start training with."""

    def start_vectors(self, vectors: Mapping[str, Any]) -> None:
        """Make of the unit's vectors, by name, once they are filled, what it wants to start training with."""


class Forgetting(Cell):
    """A unit whose gate f is the fraction of its memory that it keeps."""

    forget_bias: float = 1.0
    """Initial bias of the forget gate (1: Jozefowicz et al. 2015; the papers before set 0)."""

    def start_bias(self, bias_G: Any) -> None:
        bias_G.chunk(self.gates)[self.blocks.index("f")].add_(self.forget_bias)

    def kept(self, gates: Mapping[str, Any]) -> Any:
        return gates["f"]
