"""e_s = v' tanh(W h + V hs + U f_s + b), where f_s is what filters see in the weights of the step before, around s.

It is the hybrid attention of Chorowski et al. (2015, equations 8 and 9): content and location. Without V hs it is their
location-based attention. A filter sees R = 2 r + 1 positions, with zeros beyond the two ends of the sentence.

    1  f_s = sum_j F_j a_{t-1, s+j}          j = -r .. r, a vector of one number a filter
    2  z_s = W_q h (+ k_s) + U f_s + b       k_s = W_m hs, once a batch
    3  e_s = v' tanh(z_s)

a_0 is 1 at the first position.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import Field
from torch import Tensor
from torch.nn import functional

from anaphora.config import MAX_LENGTH, MAX_UNITS
from anaphora.kernels.linear import linear
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.parts import previous
from anaphora.kernels.scores.additive import Additive, Features, LoweredLayer


class Lowered(NamedTuple):
    """Values saved for the backward pass, of lists of operations."""

    before: Value
    layer: LoweredLayer


class Hybrid(Additive):
    """The score that sees where the step before looked."""

    kind: Literal["hybrid"] = "hybrid"
    content: bool = True
    """True if it sees the annotation too; without, it knows the query and the weights before alone."""
    filters: int = Field(10, ge=1, le=MAX_UNITS)
    """Number of filters over the previous weights."""
    radius: int = Field(5, ge=0, le=MAX_LENGTH)
    """Positions that a filter sees on either side."""
    bias: bool = True
    """True if b is there."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The weights of the step before."""
        return (previous("weights"),)

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_q, F, U, perhaps b, and v, with A = ``hidden``; W_m."""
        shapes: dict[str, tuple[int, ...]] = {
            "query": (hidden, query),
            "filters": (self.filters, 2 * self.radius + 1),
            "location": (hidden, self.filters),
        }
        shapes |= ({"bias": (hidden,)} if self.bias else {}) | {"v": (1, hidden)}
        return shapes | ({"memory": (hidden, memory)} if self.content else {})

    def prepare(self, memory_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """W_m hs for every position."""
        return {"keys": linear(memory_BSM, weights["memory"], lengths_B)} if self.content else {}

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Tensor, Tensor]:
        """Steps 1 to 3."""
        (before_XBS,) = beside
        seen_XBSR = functional.pad(before_XBS, (self.radius, self.radius)).unfold(-1, 2 * self.radius + 1, 1)
        f_XBSF = matmul("filters", seen_XBSR)  # 1
        z_XBSA = matmul("location", f_XBSF)  # 2
        q_XBA = matmul("query", query_XBQ)
        z_XBSA = z_XBSA + (q_XBA + matmul.vector("bias") if self.bias else q_XBA).unsqueeze(2)
        if self.content:
            z_XBSA = z_XBSA.add_(matmul.sentences("keys", query_XBQ.shape[1]))
        return self.layer(z_XBSA, matmul)  # 3

    def backward(self, saved: Tensor, de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """Steps 3 to 1 undone."""
        dz_XBSA = self.layer_back(saved, de_XBS, matmul)  # 3
        dq_XBA = dz_XBSA.sum(2)
        if self.bias:
            matmul.add_gradient("bias", dq_XBA.sum((0, 1)))  # 2
        if self.content:
            matmul.add_gradient("keys", dz_XBSA[0] if len(dz_XBSA) == 1 else dz_XBSA.sum(0))
        dseen_XBSR = matmul.back("filters", matmul.back("location", dz_XBSA))  # 1
        positions = de_XBS.shape[-1]
        dbefore = dseen_XBSR.new_zeros(*de_XBS.shape[:-1], positions + 2 * self.radius)
        for place in range(2 * self.radius + 1):
            dbefore[..., place : place + positions] += dseen_XBSR[..., place]
        return matmul.back("query", dq_XBA), dbefore[..., self.radius : self.radius + positions]

    def lower(self, query: Value, beside: Values, window: Value, attend: PartLowering) -> tuple[Value, Lowered]:
        """Steps 1 to 3."""
        (before,) = beside
        f = attend.value(self.filters * before.width)
        attend.run("location_features", (f,), (before, attend.vector("filters"), window))  # 1
        q = attend("query", query)
        if self.bias:
            attend.run("add_vector", (q,), (q, attend.vector("bias")))  # 2
        keys = attend.sentences("keys") if self.content else attend.given(None, before.width * q.width)
        e, layer = self.lower_layer(q, keys, Features("location", f), window, attend)  # 2, 3
        return e, Lowered(before, layer)

    def lower_back(self, saved: Lowered, de: Value, window: Value, attend: PartLowering) -> Values:
        """Steps 3 to 1 undone."""
        before, layer = saved
        dkeys = attend.gradient("keys") if self.content else attend.given(None, layer.u.width)
        dq, df = self.lower_layer_back(layer, de, dkeys, window, attend)  # 3, 2
        assert df
        if self.bias:
            attend.add_vector_gradient("bias", dq)
        dbefore, dfilters = attend.value(before.width, merges=True), attend.vector_gradient_by_sentence("filters")
        read = (df, before, attend.vector("filters"), window)
        attend.run("location_features_back", (dbefore, dfilters), read, adds=(dfilters,))  # 1
        return attend.back("query", dq), dbefore
