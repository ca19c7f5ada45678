"""score(h, hs) = v' tanh(W [h; hs]), written v' tanh(W_q h + W_m hs).

It is the score of Bahdanau, Cho and Bengio (2015, appendix A.1.2), and the "concat" of Luong, Pham and Manning (2015,
section 3.1). With coverage it also sees how much each position was looked at so far, C_{t-1} = a_1 + .. + a_{t-1}
(Tu et al. 2016, section 3: their linguistic coverage, one number a position, without fertility).

    1  z_s = W_q h + k_s (+ w_c C_{t-1,s})          k_s = W_m hs, once a batch
    2  e_s = v' tanh(z_s)
"""

from collections.abc import Mapping
from typing import Literal

from torch import Tensor

from anaphora.kernels import compiled
from anaphora.kernels.linear import linear
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.parts import previous
from anaphora.kernels.scores.additive import Additive, Features, LoweredLayer


class Concat(Additive):
    """The additive score, with a scoring layer of its own."""

    kind: Literal["concat"] = "concat"
    coverage: bool = False
    """True if it sees the sum of all weights so far at each position (Tu et al. 2016)."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The coverage."""
        return (previous("coverage"),) if self.coverage else ()

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_q, W_m and v, with A = ``hidden``; w_c."""
        shapes: dict[str, tuple[int, ...]] = {"query": (hidden, query), "memory": (hidden, memory), "v": (1, hidden)}
        return shapes | ({"coverage": (hidden,)} if self.coverage else {})

    def prepare(self, memory_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """W_m hs for every position."""
        return {"keys": linear(memory_BSM, weights["memory"], lengths_B)}

    def forward(
        self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Steps 1 and 2."""
        q_XBA = matmul("query", query_XBQ)
        keys_BSA = matmul.sentences("keys", query_XBQ.shape[1])
        if beside or not matmul.native(q_XBA):
            z_XBSA = q_XBA.unsqueeze(2) + keys_BSA  # 1
            for coverage_XBS in beside:
                z_XBSA = z_XBSA.add_(coverage_XBS.unsqueeze(-1) * matmul.vector("coverage"))
            e_XBS, u_XBSA = self.layer(z_XBSA, matmul)  # 2
            return e_XBS, (u_XBSA, *beside)
        e_XBS, u_XBSA = compiled.additive_forward(q_XBA, keys_BSA, matmul.vector("v")[0])  # 1, 2
        return e_XBS, (u_XBSA,)

    def backward(self, saved: tuple[Tensor, ...], de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """Steps 2 and 1 undone."""
        u_XBSA, *beside = saved
        if beside or not matmul.native(u_XBSA):
            dz_XBSA = self.layer_back(u_XBSA, de_XBS, matmul)  # 2
            matmul.add_gradient("keys", dz_XBSA[0] if len(dz_XBSA) == 1 else dz_XBSA.sum(0))  # 1
            dbeside = []
            for coverage_XBS in beside:
                matmul.add_gradient("coverage", (coverage_XBS.unsqueeze(-1) * dz_XBSA).sum((0, 1, 2)))
                dbeside.append((dz_XBSA * matmul.vector("coverage")).sum(-1))
            return (matmul.back("query", dz_XBSA.sum(2)), *dbeside)
        dkeys_BSA = matmul.gradient("keys", u_XBSA.shape[1])
        dq_XBA, dv_A = compiled.additive_backward(de_XBS, u_XBSA, matmul.vector("v")[0], dkeys_BSA)  # 2, 1
        matmul.add_gradient("v", dv_A.unsqueeze(0))
        return (matmul.back("query", dq_XBA),)

    def lower(self, query: Value, beside: Values, window: Value, attend: PartLowering) -> tuple[Value, LoweredLayer]:
        """Steps 1 and 2."""
        features = Features("coverage", *beside) if beside else None
        return self.lower_layer(attend("query", query), attend.sentences("keys"), features, window, attend)

    def lower_back(self, saved: LoweredLayer, de: Value, window: Value, attend: PartLowering) -> Values:
        """Steps 2 and 1 undone."""
        dq, dcoverage = self.lower_layer_back(saved, de, attend.gradient("keys"), window, attend)
        return (attend.back("query", dq), dcoverage) if dcoverage else (attend.back("query", dq),)
