"""Scores that are a scalar product of the query with a key of each position, made once a batch."""

from torch import Tensor

from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.scores.score import Score


class Product(Score):
    """e = h' k, of keys as wide as the query; a subclass says what the keys are."""

    def width(self, query: int, hidden: int) -> int:
        """Q."""
        return query

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Tensor, None]:
        """e = h' k."""
        return matmul.attend("keys", query_XBQ), None

    def backward(self, saved: None, de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """dh = sum_s de_s k_s; dk_s = de_s h after the loop."""
        return (matmul.attend_back("keys", de_XBS),)

    def lower(self, query: Value, beside: Values, window: Value, attend: PartLowering) -> tuple[Value, None]:
        """e = h' k."""
        return attend.dot("keys", query, window), None

    def lower_back(self, saved: None, de: Value, window: Value, attend: PartLowering) -> Values:
        """dh = sum_s de_s k_s; dk_s = de_s h after the loop."""
        return (attend.dot_back("keys", de, window),)
