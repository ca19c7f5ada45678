"""What a score is to attention: how well a query fits each position, forward and backward.

A new score is one file like ``general.py`` and one line in ``__init__.py``.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.products import PartProducts


class Score(Config):
    """One kind of score e_s between a query h (width Q) and the positions of a memory (S x M)."""

    scaled: bool = False
    """Divide the score by the square root of the width that it sums over."""

    keys: ClassVar[str]
    """How the keys lie in memory: "BAS" to be multiplied with, "BSA" to be added to."""

    @abstractmethod
    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, int]]:
        """Shapes of the weights that it needs, by name; ``hidden`` is the width of a scoring layer that has one.

        Raises:
            ConfigError: the sizes do not go together.
        """

    @abstractmethod
    def width(self, query: int, hidden: int) -> int:
        """The width that the score sums over."""

    @abstractmethod
    def prepare(self, memory_BSM: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        """The keys of a batch: whatever of the score does not depend on the query, once for all steps."""

    @abstractmethod
    def forward(self, query_XBQ: Tensor, product: PartProducts) -> tuple[Tensor, Any]:
        """The scores e_XBS, before scaling, and what ``backward`` needs."""

    @abstractmethod
    def backward(self, saved: Any, de_XBS: Tensor, product: PartProducts) -> Tensor:
        """The gradient of the scores gives that of the query (and, recorded in ``product``, those of the rest)."""
