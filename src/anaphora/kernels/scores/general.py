"""score(h, hs) = h' W hs (Luong, Pham and Manning 2015, section 3.1), also called multiplicative or bilinear.

W hs does not depend on the step, so it is made once a batch; what is left is a scalar product.
"""

from collections.abc import Mapping
from typing import Literal

from torch import Tensor

from anaphora.kernels.linear import linear
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.scores.score import Score


class General(Score):
    """The bilinear score."""

    kind: Literal["general"] = "general"

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W, Q x M."""
        return {"memory": (query, memory)}

    def width(self, query: int, hidden: int) -> int:
        """Q."""
        return query

    def prepare(self, memory_BSM: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """W hs for every position."""
        return {"keys": linear(memory_BSM, weights["memory"]).transpose(1, 2)}

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Tensor, None]:
        """e = h' (W hs)."""
        return matmul.attend("keys", query_XBQ), None

    def backward(self, saved: None, de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """dh = sum_s de_s (W hs); d(W hs) = de_s h after the loop."""
        return (matmul.attend_back("keys", de_XBS),)

    def obstacle(self) -> str:
        """None."""
        return ""

    def lower(self, query: Value, beside: Values, window: Value, attend: PartLowering) -> tuple[Value, None]:
        """e = h' (W hs)."""
        return attend.dot("keys", query, window), None

    def lower_back(self, saved: None, de: Value, window: Value, attend: PartLowering) -> Values:
        """dh = sum_s de_s (W hs); d(W hs) = de_s h after the loop."""
        return (attend.dot_back("keys", de, window),)
