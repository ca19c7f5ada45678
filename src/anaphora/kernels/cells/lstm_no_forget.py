"""The LSTM without a forget gate: its first form (Hochreiter and Schmidhuber 1997), and an ablation of today's.

1  a    = x_t + W_h h_{t-1}                          blocks i, g, o
2  i, o = sigm(a_i), sigm(a_o)
   g    = tanh(a_g)
3  c_t  = c_{t-1} + i * g
4  m    = tanh(c_t)
5  h_t  = o * m
"""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.cells.lstm import LstmState
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_
from anaphora.kernels.products import PartProducts


class _Saved(NamedTuple):
    gates: Tensor
    m: Tensor


class LstmNoForget(Cell):
    """The LSTM whose memory keeps everything."""

    kind: Literal["lstm-no-forget"] = "lstm-no-forget"
    """The unit's name."""

    gates: ClassVar[int] = 3
    state: ClassVar[tuple[str, ...]] = LstmState._fields

    @property
    def products(self) -> tuple[tuple[str, int], ...]:
        """All gates see the previous output."""
        return (("h", 3),)

    def forward(self, x_BG: Tensor, state: Any, product: PartProducts) -> tuple[LstmState, _Saved]:
        """Steps 1 to 5."""
        h_before, c_before = state
        gates = product("h", h_before).add_(x_BG)  # 1
        i, g, o = gates.chunk(3, -1)
        sigmoid_(i)  # 2
        g.tanh_()
        sigmoid_(o)
        c = torch.addcmul(c_before, i, g)  # 3
        m = torch.tanh(c)  # 4
        return LstmState(o * m, c), _Saved(gates, m)  # 5

    def backward(self, saved: _Saved, dstate: Any, product: PartProducts) -> tuple[Tensor, LstmState]:
        """Steps 5 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        dh, dc = dstate
        gates, m = saved
        i, g, o = gates.chunk(3, -1)
        da = torch.empty_like(gates)
        di, dg, do = da.chunk(3, -1)
        torch.mul(dh, m, out=do)  # 5
        dc = tanh_back_(dh * o, m).add_(dc)  # 5, 4
        torch.mul(dc, g, out=di)  # 3
        torch.mul(dc, i, out=dg)
        sigmoid_back_(di, i)  # 2
        tanh_back_(dg, g)
        sigmoid_back_(do, o)
        return da, LstmState(product.back("h", da), dc)  # 1, 3
