"""Scoring layer, shared by the scores that have one: e_s = v' tanh(what is said of position s).

1  u_s = tanh(z_s)               z_s: a sum of terms, one of them W_q h
2  e_s = v' u_s
"""

from collections.abc import Sequence
from typing import ClassVar

from anaphora.kernels.ops import Gradient, Ops, V
from anaphora.kernels.scores.score import Score


class Additive(Score):
    """A score with a scoring layer of A numbers for every position.

    Terms of z are W_q h, perhaps a key of each position, and perhaps U f_s of numbers that each position has.
    """

    U: ClassVar[str]
    """Name of U among the weights; a vector is a matrix of one column."""

    @property
    def has_keys(self) -> bool:
        """True if a key of each position is a term."""
        return True

    def width(self, query: int, hidden: int) -> int:
        """A."""
        return hidden

    def term(self, ops: Ops[V], f: V) -> V:
        """U f_s."""
        raise NotImplementedError

    def term_back(self, ops: Ops[V], f: V, dz: V) -> V:
        """df, and the record of dU."""
        raise NotImplementedError

    def layer(self, ops: Ops[V], q: V, open_: V, features: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 1 and 2; ``features`` has f or nothing."""
        width = ops.positions * ops.width(q)
        keys = ops.sentences("keys") if self.has_keys else ops.zeros(width)
        read = q, keys, ops.vector("v"), open_, *features, *(ops.columns(self.U) for _ in features)
        e, u = ops.fused_over_memory("additive_step", self._layer, read, (ops.positions, width))
        return e, (u, *features)

    def _layer(self, ops: Ops[V], q: V, keys: V, v: V, open_: V, *features: V) -> Sequence[V]:
        z = ops.add(ops.over_positions(q), keys)
        if features:
            z = ops.add(z, self.term(ops, features[0]))
        u = ops.tanh(z)  # 1
        return ops.squeeze(ops.times("v", u)), u  # 2

    def layer_back(self, ops: Ops[V], saved: Sequence[V], de: V, open_: V) -> Sequence[V]:
        """Steps 2 and 1 undone: the gradients of q and of f; that of the keys is recorded."""
        u, *features = saved
        read, size = (de, ops.vector("v"), u, open_), ops.width(u) // ops.positions
        dkeys = Gradient("keys") if self.has_keys else ops.zeros(ops.width(u))
        dq, *_ = ops.fused_over_memory("additive_step_back", self._layer_back, read, (size, dkeys, Gradient("v")))
        if not features:
            return [dq]
        writes = ops.width(features[0]), Gradient(self.U, by_column=True), size
        read_too = *features, ops.columns(self.U)
        df, *_ = ops.fused_over_memory("additive_features_back", self._features_back, (*read, *read_too), writes)
        return dq, df

    def _layer_back(self, ops: Ops[V], de: V, v: V, u: V, open_: V) -> Sequence[V]:
        dz = ops.tanh_back(u, ops.back("v", ops.at_positions(de)))  # 2, 1
        if self.has_keys:
            ops.add_gradient("keys", dz)
        return [ops.sum_positions(dz)]

    def _features_back(self, ops: Ops[V], de: V, v: V, u: V, open_: V, f: V, U: V) -> Sequence[V]:
        dz = ops.tanh_back(u, ops.mul(ops.at_positions(de), v))  # 2, 1
        return [self.term_back(ops, f, dz)]
