"""LSTM with peepholes: the gates also look at the memory (Graves 2013, section 2, equations 7 to 11).

1  a       = x_t + W_h h_{t-1}                       blocks i, f, g, o
2  i, f    = sigm(a_i + P_i c_{t-1}), sigm(a_f + P_f c_{t-1})
   g       = tanh(a_g)
3  c_t     = f * c_{t-1} + i * g
4  o       = sigm(a_o + P_o c_t)                     the memory after this step, not before it
5  m       = tanh(c_t)
6  h_t     = o * m

P_i, P_f and P_o are whole matrices with ``peephole = "full"``: ``c`` holds P_i and P_f one above the other, ``c_new``
is P_o. They are diagonal, as in the paper, with ``"diagonal"``: then the vectors ``c_i``, ``c_f``, ``c_o`` hold the
diagonals.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.cells.cell import LSTM_GATES, Forgetting
from anaphora.kernels.ops import Ops, V


class Peephole(Forgetting):
    """The LSTM with peepholes."""

    kind: Literal["peephole"] = "peephole"
    peephole: Literal["full", "diagonal"] = "diagonal"
    """Peepholes of a gate: the whole memory cell, or each unit its own number (Graves 2013)."""

    blocks: ClassVar[str] = "ifgo"
    gate_names = LSTM_GATES
    candidate: ClassVar[str] = "g"
    state: ClassVar[tuple[str, ...]] = ("h", "c")

    @property
    def matmuls(self) -> tuple[tuple[str, str], ...]:
        """All gates see the previous output; with full peepholes, two the memory before and one the memory after."""
        return (("h", "ifgo"), ("c", "if"), ("c_new", "o")) if self.peephole == "full" else (("h", "ifgo"),)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The diagonals."""
        return ("c_i", "c_f", "c_o") if self.peephole == "diagonal" else ()

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[V, ...]]:
        """Steps 1 to 6."""
        h_before, c_before = state
        a_i, a_f, a_g, a_o = ops.split(ops.add(ops.times("h", h_before), x), 1, 1, 1, 1)  # 1
        of_i, of_f = self._look(ops, "c", ("c_i", "c_f"), c_before)
        i, f, g = ops.sigmoid(ops.add(a_i, of_i)), ops.sigmoid(ops.add(a_f, of_f)), ops.tanh(a_g)  # 2
        c = ops.add(ops.mul(f, c_before), ops.mul(i, g))  # 3
        (of_o,) = self._look(ops, "c_new", ("c_o",), c)
        o = ops.sigmoid(ops.add(a_o, of_o))  # 4
        m = ops.tanh(c)  # 5
        return (ops.mul(o, m), c), (i, f, g, o, c_before, c, m)  # 6

    def _look(self, ops: Ops[V], matrix: str, diagonals: tuple[str, ...], c: V) -> Sequence[V]:
        """P c, for one gate or several."""
        if self.peephole == "full":
            return ops.split(ops.times(matrix, c), *(1 for _ in diagonals))
        return [ops.mul(c, ops.vector(name)) for name in diagonals]

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 6 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        (i, f, g, o, c_before, c, m), (dh, dc) = saved, dstate
        do, dm = ops.mul(dh, m), ops.mul(dh, o)  # 6
        da_o = ops.sigmoid_back(o, do)  # 4
        dc = ops.add(ops.add(dc, ops.tanh_back(m, dm)), self._looked_back(ops, "c_new", {"c_o": da_o}, c))  # 5, 4
        di, df, dg = ops.mul(dc, g), ops.mul(dc, c_before), ops.mul(dc, i)  # 3
        da_i, da_f, da_g = ops.sigmoid_back(i, di), ops.sigmoid_back(f, df), ops.tanh_back(g, dg)  # 2
        looked = self._looked_back(ops, "c", {"c_i": da_i, "c_f": da_f}, c_before)
        da = ops.join(da_i, da_f, da_g, da_o)
        return da, (ops.back("h", da), ops.add(ops.mul(dc, f), looked))  # 1

    def _looked_back(self, ops: Ops[V], matrix: str, da: dict[str, V], c: V) -> V:
        """P' da, and the record of dP."""
        if self.peephole == "full":
            return ops.back(matrix, ops.join(*da.values()))
        for name, da_s in da.items():
            ops.add_vector_gradient(name, ops.mul(da_s, c))
        return ops.sum([ops.mul(da_s, ops.vector(name)) for name, da_s in da.items()])

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """i, f, g, o."""
        return dict(zip(self.blocks, saved, strict=False))
