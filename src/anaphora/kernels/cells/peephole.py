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

from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Forgetting, State
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_


class _Saved(NamedTuple):
    gates: Tensor
    c_before: Tensor
    c: Tensor
    m: Tensor


class Peephole(Forgetting):
    """The LSTM with peepholes."""

    kind: Literal["peephole"] = "peephole"
    peephole: Literal["full", "diagonal"] = "diagonal"
    """Peepholes of a gate: the whole memory cell, or each unit its own number (Graves 2013)."""

    gates: ClassVar[int] = 4
    state: ClassVar[tuple[str, ...]] = ("h", "c")

    @property
    def matmuls(self) -> tuple[tuple[str, int], ...]:
        """All gates see the previous output; with full peepholes, two the memory before and one the memory after."""
        return (("h", 4), ("c", 2), ("c_new", 1)) if self.peephole == "full" else (("h", 4),)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The diagonals."""
        return ("c_i", "c_f", "c_o") if self.peephole == "diagonal" else ()

    def forward(self, x_BG: Tensor, state: State, matmul: PartMatmuls) -> tuple[State, _Saved]:
        """Steps 1 to 6."""
        h_before, c_before = state
        gates = matmul("h", h_before).add_(x_BG)  # 1
        i, f, g, o = gates.chunk(4, -1)
        i_and_f = gates[..., : 2 * g.shape[-1]]
        if self.peephole == "full":
            i_and_f += matmul("c", c_before)
        else:
            i.addcmul_(c_before, matmul.vector("c_i"))
            f.addcmul_(c_before, matmul.vector("c_f"))
        sigmoid_(i_and_f)  # 2
        g.tanh_()
        c = torch.addcmul(f * c_before, i, g)  # 3
        if self.peephole == "full":
            o += matmul("c_new", c)
        else:
            o.addcmul_(c, matmul.vector("c_o"))
        sigmoid_(o)  # 4
        m = torch.tanh(c)  # 5
        return (o * m, c), _Saved(gates, c_before, c, m)  # 6

    def gates_of(self, saved: _Saved) -> dict[str, Tensor]:
        """i, f, g, o."""
        return dict(zip("ifgo", saved.gates.chunk(4, -1), strict=True))

    def backward(self, saved: _Saved, dstate: State, matmul: PartMatmuls) -> tuple[Tensor, State]:
        """Steps 6 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        dh, dc = dstate
        gates, c_before, c, m = saved
        i, f, g, o = gates.chunk(4, -1)
        da = torch.empty_like(gates)
        di, df, dg, do = da.chunk(4, -1)
        torch.mul(dh, m, out=do)  # 6
        dc = tanh_back_(dh * o, m).add_(dc)  # 6, 5
        sigmoid_back_(do, o)  # 4
        if self.peephole == "full":
            dc += matmul.back("c_new", do)
        else:
            dc.addcmul_(do, matmul.vector("c_o"))
            matmul.add_gradient("c_o", _summed(do, c))
        torch.mul(dc, g, out=di)  # 3
        torch.mul(dc, c_before, out=df)
        torch.mul(dc, i, out=dg)
        dc_before = dc * f
        size = g.shape[-1]
        sigmoid_back_(da[..., : 2 * size], gates[..., : 2 * size])  # 2
        tanh_back_(dg, g)
        if self.peephole == "full":
            dc_before += matmul.back("c", da[..., : 2 * size])
        else:
            dc_before.addcmul_(di, matmul.vector("c_i")).addcmul_(df, matmul.vector("c_f"))
            matmul.add_gradient("c_i", _summed(di, c_before))
            matmul.add_gradient("c_f", _summed(df, c_before))
        return da, (matmul.back("h", da), dc_before)  # 1


def _summed(da_XBH: Tensor, c_XBH: Tensor) -> Tensor:
    """The gradient of a diagonal, da * c summed over all rows."""
    return (da_XBH * c_XBH).sum((0, 1))
