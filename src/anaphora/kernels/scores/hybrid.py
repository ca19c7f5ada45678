"""e_s = v' tanh(W h + V hs + U f_s + b), where f_s is what filters see in the weights of the step before, around s.

It is the hybrid attention of Chorowski et al. (2015, equations 8 and 9): content and location. Without V hs it is their
location-based attention. A filter sees R = 2 r + 1 positions, with zeros beyond the two ends of the sentence.

    1  f_s = sum_j F_j a_{t-1, s+j}          j = -r .. r, a vector of one number a filter
    2  z_s = W_q h (+ k_s) + U f_s + b       k_s = W_m hs, once a batch
    3  e_s = v' tanh(z_s)

a_0 is 1 at the first position.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from anaphora.kernels.linear import linear
from anaphora.kernels.ops import Gradient, Ops, V
from anaphora.kernels.parts import previous
from anaphora.kernels.scores.additive import Additive
from anaphora.options import MAX_LENGTH, MAX_UNITS


class Hybrid(Additive):
    """The score that sees where the step before looked."""

    kind: Literal["hybrid"] = "hybrid"
    U: ClassVar[str] = "location"
    content: bool = True
    """True if it sees the annotation too; without, it knows the query and the weights before alone."""
    filters: Annotated[int, Ge(1), Le(MAX_UNITS)] = 10
    """Number of filters over the previous weights."""
    radius: Annotated[int, Ge(0), Le(MAX_LENGTH)] = 5
    """Positions that a filter sees on either side."""
    bias: bool = True
    """True if b is there."""

    beside: ClassVar[tuple[str, ...]] = (previous("weights"),)
    """The weights of the step before."""

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_q, F, U, perhaps b, and v, with A = ``hidden``; W_m."""
        shapes: dict[str, tuple[int, ...]] = {
            "query": (hidden, query),
            "filters": (self.filters, 2 * self.radius + 1),
            "location": (hidden, self.filters),
        }
        shapes |= ({"bias": (hidden,)} if self.bias else {}) | {"v": (1, hidden)}
        return shapes | ({"memory": (hidden, memory)} if self.content else {})

    def prepare(self, memory_BSM: Any, lengths_B: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
        """W_m hs for every position."""
        return {"keys": linear(memory_BSM, weights["memory"], lengths_B)} if self.content else {}

    @property
    def has_keys(self) -> bool:
        """True if the annotation is a term."""
        return self.content

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V], open_: V) -> tuple[V, tuple[V, tuple[V, ...]]]:
        """Steps 1 to 3."""
        (before,) = beside
        read = before, ops.vector("filters"), open_
        (f,) = ops.fused_over_memory("location_features", self._seen, read, (self.filters * ops.positions,))  # 1
        q = ops.times("query", query)
        e, layer = self.layer(ops, ops.add_vector(q, "bias") if self.bias else q, open_, [f])  # 2, 3
        return e, (before, layer)

    def _seen(self, ops: Ops[V], before: V, filters: V, open_: V) -> Sequence[V]:
        return [ops.times("filters", ops.neighbours(before, self.radius))]

    def backward(self, ops: Ops[V], saved: tuple[V, tuple[V, ...]], de: V, open_: V) -> Sequence[V]:
        """Steps 3 to 1 undone."""
        before, layer = saved
        dq, df = self.layer_back(ops, layer, de, open_)  # 3, 2
        if self.bias:
            ops.add_vector_gradient("bias", dq)
        read, writes = (df, before, ops.vector("filters"), open_), (ops.positions, Gradient("filters"))
        dbefore, *_ = ops.fused_over_memory("location_features_back", self._seen_back, read, writes)  # 1
        return ops.back("query", dq), dbefore

    def _seen_back(self, ops: Ops[V], df: V, before: V, filters: V, open_: V) -> Sequence[V]:
        return [ops.neighbours_back(ops.back("filters", df), self.radius)]

    def term(self, ops: Ops[V], f: V) -> V:
        """U f_s."""
        return ops.times("location", f)

    def term_back(self, ops: Ops[V], f: V, dz: V) -> V:
        """Return the gradient of f_s."""
        return ops.back("location", dz)
