"""Attention window: the positions that a step looks at, and how their weight falls off.

A new span is one file like ``local.py`` and one line in ``__init__.py``. Positions count from 1, as in the papers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple

from anaphora.kernels.ops import Ops, V
from anaphora.records import Record


class Focus(NamedTuple, Generic[V]):
    """Positions that a step may look at."""

    open: V
    """See ``Ops.near``."""
    factor: V | None
    """Factor of the weight of each open position; None is 1."""


class Span(Record, ABC, extra="forbid"):
    """One way to choose positions."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The signals that it reads beside the query."""
        return ()

    def weights(self, query: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights that it needs, by name; ``hidden`` is the width of its own layer."""
        return {}

    @abstractmethod
    def forward(self, ops: Ops[V], query: V, beside: Sequence[V]) -> tuple[Focus[V], Any]:
        """Return the open positions, and what ``backward`` needs. Every sentence keeps at least one open position."""

    def centre(self, saved: Any) -> Any:
        """Return the middle of each window (X x B x 1), where ``forward`` saved something."""
        raise NotImplementedError

    def backward(self, ops: Ops[V], saved: Any, dfactor: V, open_: V) -> Sequence[V]:
        """The gradient of the factor gives those of the query and of ``beside``; asked for where there is a factor."""
        raise NotImplementedError

    def obstacle(self) -> str:
        return ""


class Global(Span):
    """Every position of the sentence (Bahdanau, Cho and Bengio 2015; "global" in Luong, Pham and Manning 2015)."""

    kind: Literal["global"] = "global"

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V]) -> tuple[Focus[V], None]:
        """Return all positions up to the end."""
        return Focus(ops.whole(), None), None
