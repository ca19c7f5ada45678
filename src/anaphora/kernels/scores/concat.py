"""score(h, hs) = v' tanh(W [h; hs]), written v' tanh(W_q h + W_m hs).

It is the score of Bahdanau, Cho and Bengio (2015, appendix A.1.2), and the "concat" of Luong, Pham and Manning (2015,
section 3.1). With coverage it also sees how much each position was looked at so far, C_{t-1} = a_1 + .. + a_{t-1}
(Tu et al. 2016, section 3: their linguistic coverage, one number a position, without fertility).

    1  z_s = W_q h + k_s (+ w_c C_{t-1,s})          k_s = W_m hs, once a batch
    2  e_s = v' tanh(z_s)
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.linear import linear
from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import previous
from anaphora.kernels.scores.additive import Additive


class Concat(Additive):
    """The additive score, with its own scoring layer."""

    kind: Literal["concat"] = "concat"
    U: ClassVar[str] = "coverage"
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

    def prepare(self, memory_BSM: Any, lengths_B: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
        """W_m hs for every position."""
        return {"keys": linear(memory_BSM, weights["memory"], lengths_B)}

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V], open_: V) -> tuple[V, tuple[V, ...]]:
        """Steps 1 and 2."""
        return self.layer(ops, ops.times("query", query), open_, beside)

    def backward(self, ops: Ops[V], saved: tuple[V, ...], de: V, open_: V) -> Sequence[V]:
        """Steps 2 and 1 undone."""
        dq, *dcoverage = self.layer_back(ops, saved, de, open_)
        return [ops.back("query", dq), *dcoverage]

    def term(self, ops: Ops[V], f: V) -> V:
        """w_c C_s."""
        return ops.mul(ops.at_positions(f), ops.vector("coverage"))

    def term_back(self, ops: Ops[V], f: V, dz: V) -> V:
        """Return the gradient of the coverage."""
        ops.add_vector_gradient("coverage", ops.mul(ops.at_positions(f), dz))
        return ops.squeeze(ops.row_sum(ops.mul(dz, ops.vector("coverage"))))
