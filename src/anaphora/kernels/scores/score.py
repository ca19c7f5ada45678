"""Attention score: how well a query fits each position, forward and backward.

A new score is one file like ``general.py`` and one line in ``__init__.py``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from anaphora.kernels.ops import Ops, V
from anaphora.records import Record


class Score(Record, ABC, extra="forbid"):
    """One kind of score e_s between a query h (width Q) and the positions of a memory (S x M)."""

    scaled: bool = False
    """Divide the score by the square root of the width that it sums over."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The signals that it reads beside the query: what it carries from step to step."""
        return ()

    @abstractmethod
    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights that it needs, by name; ``hidden`` is the width of a scoring layer that has one.

        Raises ConfigError where the sizes do not go together.
        """

    @abstractmethod
    def width(self, query: int, hidden: int) -> int:
        """Return the width that the score sums over."""

    def reach(self, lengths_B: Any) -> Any:
        """Return the number of positions that it can tell apart, for sentences of these lengths: all of them."""
        return lengths_B

    @abstractmethod
    def prepare(self, memory_BSM: Any, lengths_B: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
        """Memory tensors of a batch: whatever of the score does not depend on the step.

        What lies past the end of a sentence is not looked at.
        """

    @abstractmethod
    def forward(self, ops: Ops[V], query: V, beside: Sequence[V], open_: V) -> tuple[V, Any]:
        """Return the scores, a number for each position, before scaling, and what ``backward`` needs.

        Those of positions that are not open are not looked at.
        """

    @abstractmethod
    def backward(self, ops: Ops[V], saved: Any, de: V, open_: V) -> Sequence[V]:
        """The gradient of the scores gives those of the query and of ``beside`` (and records those of the rest)."""

    def obstacle(self) -> str:
        return ""
