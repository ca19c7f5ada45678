"""score(h, hs) = h' W hs (Luong, Pham and Manning 2015, section 3.1), also called multiplicative or bilinear.

W hs does not depend on the step, so it is made once a batch; what is left is a scalar product.
"""

from collections.abc import Mapping
from typing import Any, Literal

from anaphora.kernels.linear import linear
from anaphora.kernels.scores.product import Product


class General(Product):
    """The bilinear score."""

    kind: Literal["general"] = "general"

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W, Q x M."""
        return {"memory": (query, memory)}

    def prepare(self, memory_BSM: Any, lengths_B: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
        """W hs for every position."""
        return {"keys": linear(memory_BSM, weights["memory"], lengths_B).swapaxes(1, 2)}
