"""Attention score: how well a query fits each position, forward and backward.

A new score is one file like ``general.py`` and one line in ``__init__.py``.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls


class Score(Config):
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
        """The width that the score sums over."""

    def reach(self, lengths_B: Tensor) -> Tensor:
        """Return the number of positions that it can tell apart, for sentences of these lengths: all of them."""
        return lengths_B

    @abstractmethod
    def prepare(self, memory_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Memory tensors of a batch: whatever of the score does not depend on the step.

        What lies past the end of a sentence is not looked at.
        """

    @abstractmethod
    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Tensor, Any]:
        """The scores e_XBS, before scaling, and what ``backward`` needs."""

    @abstractmethod
    def backward(self, saved: Any, de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """The gradient of the scores gives those of the query and of ``beside`` (and records those of the rest)."""

    def obstacle(self) -> str:
        """Why the time loop in C cannot run it, in a few words; empty where it has a ``lower``."""
        return (
            "" if type(self).lower is not Score.lower else f"the score '{getattr(self, 'kind', '')}' has no native body"
        )

    def lower(self, query: Value, beside: Values, window: Value, attend: PartLowering) -> tuple[Value, Any]:
        """``forward`` as operations of C, over the positions in the window of each step."""
        raise NotImplementedError

    def lower_back(self, saved: Any, de: Value, window: Value, attend: PartLowering) -> Values:
        """``backward`` as operations of C."""
        raise NotImplementedError
