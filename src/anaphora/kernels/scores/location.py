"""e = W_a h: a score for every place in a sentence, whatever stands there (Luong, Pham and Manning 2015, section 3.1).

W_a has a row for each of the first L places. What a sentence has after them is never looked at, as in the paper; a
shorter sentence has no use for the last rows.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.scores.score import Score
from anaphora.options import MAX_LENGTH


class Location(Score):
    """The score that knows the query and the place alone."""

    kind: Literal["location"] = "location"
    max_length: Annotated[int, Ge(1), Le(MAX_LENGTH)] = 128
    """Number of positions that have a score, counted from the start of a sentence; none after them is looked at."""

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_a, L x Q."""
        return {"places": (self.max_length, query)}

    def width(self, query: int, hidden: int) -> int:
        """Q."""
        return query

    def reach(self, lengths_B: Any) -> Any:
        """At most L."""
        return lengths_B.clip(max=self.max_length)

    def prepare(self, memory_BSM: Any, lengths_B: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing: what stands at a position has no part in it."""
        return {}

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V], open_: V) -> tuple[V, None]:
        """Return the scores e = W_a h, as wide as the memory."""
        return ops.cut_or_pad(ops.times("places", query), ops.positions), None

    def backward(self, ops: Ops[V], saved: None, de: V, open_: V) -> Sequence[V]:
        """dh = W_a' de, with nothing for the places that this batch has not."""
        return [ops.back("places", ops.cut_or_pad(de, self.max_length))]

    def obstacle(self) -> str:
        return f"the score '{self.kind}' has no native body"
