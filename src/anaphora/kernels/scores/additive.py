"""Scoring layer, shared by the scores that have one: e_s = v' tanh(what is said of position s).

1  u_s = tanh(z_s)               z_s: a sum of terms, one of them W_q h
2  e_s = v' u_s
"""

from typing import NamedTuple

from torch import Tensor

from anaphora.kernels.lowering import PartLowering, Value
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.scores.score import Score


class Features(NamedTuple):
    """Numbers of each position that are a term of z by a matrix U: z_s = .. + U f_s."""

    name: str
    """Of U (A x F) among the weights; a vector is a matrix of one column."""
    f: Value
    """The numbers feature by feature, F x S."""


class LoweredLayer(NamedTuple):
    """Values saved for the backward pass, of lists of operations."""

    u: Value
    features: Features | None


class Additive(Score):
    """A score with a scoring layer of A numbers for every position."""

    def width(self, query: int, hidden: int) -> int:
        """A."""
        return hidden

    def layer(self, z_XBSA: Tensor, matmul: PartMatmuls) -> tuple[Tensor, Tensor]:
        """Steps 1 and 2, in what z stands in: the scores, and u."""
        u_XBSA = z_XBSA.tanh_()  # 1
        return matmul("v", u_XBSA).squeeze(-1), u_XBSA  # 2

    def layer_back(self, u_XBSA: Tensor, de_XBS: Tensor, matmul: PartMatmuls) -> Tensor:
        """Steps 2 and 1 undone: the gradient of z, which is that of each of its terms."""
        du_XBSA = matmul.back("v", de_XBS.unsqueeze(-1))  # 2
        # du (1 - u^2) as du - u^2 du, in what du stands in: it is by far the largest block of a step
        return du_XBSA.addcmul_(du_XBSA * u_XBSA, u_XBSA, value=-1)  # 1

    def lower_layer(
        self, q: Value, keys: Value, features: Features | None, window: Value, attend: PartLowering
    ) -> tuple[Value, LoweredLayer]:
        """Steps 1 and 2 for z_s = q + k_s + U f_s, the last term where there are ``features``."""
        e = attend.value(attend.memory_width("closed"))
        u = attend.value(keys.width)
        f, U = (features.f, attend.columns(features.name)) if features else (Value(0), Value(0))
        attend.run("additive_step", (e, u), (q, keys, attend.vector("v"), window, f, U))
        return e, LoweredLayer(u, features)

    def lower_layer_back(
        self, saved: LoweredLayer, de: Value, dkeys: Value, window: Value, attend: PartLowering
    ) -> tuple[Value, Value | None]:
        """Steps 2 and 1 undone: the gradients of q and of the features; that of the keys is added to ``dkeys``."""
        v, dv = attend.vector("v"), attend.vector_gradient_by_sentence("v")
        dq = attend.value(v.width)
        read = (de, v, saved.u, window)
        attend.run("additive_step_back", (dq, dkeys, dv), read, adds=(dkeys, dv))
        if not saved.features:
            return dq, None
        name, f = saved.features
        df, room = attend.value(f.width, merges=True), attend.value(v.width)
        dU = attend.columns_gradient_by_sentence(name)
        attend.run("additive_features_back", (df, dU, room), (*read, f, attend.columns(name)), adds=(dU,))
        return dq, df
