"""score(h, hs) = v' tanh(W [h; hs]), written v' tanh(W_q h + W_m hs).

It is the score of Bahdanau, Cho and Bengio (2015, appendix A.1.2), and the "concat" of Luong, Pham and Manning (2015,
section 3.1).

    1  u_s = tanh(W_q h + k_s)          k_s = W_m hs, once a batch
    2  e_s = v' u_s
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

from torch import Tensor
from torch.nn import functional

from anaphora.kernels import compiled
from anaphora.kernels.products import PartProducts
from anaphora.kernels.scores.score import Score


class Concat(Score):
    """The additive score, with a scoring layer of its own."""

    kind: Literal["concat"] = "concat"
    """The score's name."""

    keys: ClassVar[str] = "BSA"

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, int]]:
        """W_q, W_m and v, with A = ``hidden``."""
        return {"query": (hidden, query), "memory": (hidden, memory), "v": (1, hidden)}

    def width(self, query: int, hidden: int) -> int:
        """A."""
        return hidden

    def prepare(self, memory_BSM: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        """W_m hs for every position."""
        return functional.linear(memory_BSM, weights["memory"])

    def forward(self, query_XBQ: Tensor, product: PartProducts) -> tuple[Tensor, Tensor]:
        """Steps 1 and 2."""
        q_XBA = product("query", query_XBQ)
        keys_BSA = product.sentences("keys", query_XBQ.shape[1])
        if compiled.suits(q_XBA):
            return compiled.concat_forward(q_XBA, keys_BSA, product.vector("v")[0])  # 1, 2
        u_XBSA = (q_XBA.unsqueeze(2) + keys_BSA).tanh_()  # 1
        return product("v", u_XBSA).squeeze(-1), u_XBSA  # 2

    def backward(self, saved: Tensor, de_XBS: Tensor, product: PartProducts) -> Tensor:
        """Steps 2 and 1 undone."""
        u_XBSA = saved
        if compiled.suits(u_XBSA):
            dkeys_BSA = product.gradient("keys", u_XBSA.shape[1])
            dq_XBA, dv_A = compiled.concat_backward(de_XBS, u_XBSA, product.vector("v")[0], dkeys_BSA)  # 2, 1
            product.add_gradient("v", dv_A.unsqueeze(0))
            return product.back("query", dq_XBA)
        du_XBSA = product.back("v", de_XBS.unsqueeze(-1))  # 2
        # du (1 - u^2) as du - u^2 du, in what du stands in: it is by far the largest block of a step
        dk_XBSA = du_XBSA.addcmul_(du_XBSA * u_XBSA, u_XBSA, value=-1)  # 1
        product.add_gradient("keys", dk_XBSA[0] if len(dk_XBSA) == 1 else dk_XBSA.sum(0))
        return product.back("query", dk_XBSA.sum(2))
