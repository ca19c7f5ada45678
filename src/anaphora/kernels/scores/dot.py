"""score(h, hs) = h' hs (Luong, Pham and Manning 2015, section 3.1)."""

from collections.abc import Mapping
from typing import Literal

from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.scores.score import Score


class Dot(Score):
    """The scalar product of query and position; it needs no weights, and equal sizes."""

    kind: Literal["dot"] = "dot"

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """None."""
        if query != memory:
            raise ConfigError(
                f"attention.score 'dot' needs a decoder as wide as the annotations, {memory}, not {query}: set "
                f'decoder.size = {memory}, or attention.score = "general".'
            )
        return {}

    def width(self, query: int, hidden: int) -> int:
        return query

    def prepare(self, memory_BSM: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {"keys": memory_BSM.transpose(1, 2)}

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Tensor, None]:
        """e = h' hs."""
        return matmul.attend("keys", query_XBQ), None

    def backward(self, saved: None, de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """dh = sum_s de_s hs; dhs = de_s h after the loop."""
        return (matmul.attend_back("keys", de_XBS),)

    def obstacle(self) -> str:
        """None."""
        return ""

    def lower(self, query: Value, beside: Values, window: Value, attend: PartLowering) -> tuple[Value, None]:
        """e = h' hs."""
        return attend.dot("keys", query, window), None

    def lower_back(self, saved: None, de: Value, window: Value, attend: PartLowering) -> Values:
        """dh = sum_s de_s hs; dhs = de_s h after the loop."""
        return (attend.dot_back("keys", de, window),)
