"""Scores that are a scalar product of the query with a key of each position, made once a batch."""

from collections.abc import Sequence

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.scores.score import Score


class Product(Score):
    """e = h' k, of keys as wide as the query; a subclass says what the keys are."""

    def width(self, query: int, hidden: int) -> int:
        """Q."""
        return query

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V], open_: V) -> tuple[V, None]:
        """e = h' k."""
        return ops.dot("keys", query, open_), None

    def backward(self, ops: Ops[V], saved: None, de: V, open_: V) -> Sequence[V]:
        """dh = sum_s de_s k_s; dk_s = de_s h after the loop."""
        return [ops.dot_back("keys", de, open_)]
