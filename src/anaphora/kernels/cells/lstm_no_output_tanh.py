"""The LSTM without the tanh between memory and output gate: an ablation.

1  a       = x_t + W_h h_{t-1}                       blocks i, f, g, o
2  i, f, o = sigm(a_i), sigm(a_f), sigm(a_o)
   g       = tanh(a_g)
3  c_t     = f * c_{t-1} + i * g
4  h_t     = o * c_t
"""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Forgetting
from anaphora.kernels.cells.lstm import LstmState
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_
from anaphora.kernels.products import PartProducts


class _Saved(NamedTuple):
    gates: Tensor
    c_before: Tensor
    c: Tensor


class LstmNoOutputTanh(Forgetting):
    """The LSTM that puts out its memory as it is, gated."""

    kind: Literal["lstm-no-output-tanh"] = "lstm-no-output-tanh"
    """The unit's name."""

    gates: ClassVar[int] = 4
    state: ClassVar[tuple[str, ...]] = LstmState._fields

    @property
    def products(self) -> tuple[tuple[str, int], ...]:
        """All gates see the previous output."""
        return (("h", 4),)

    def forward(self, x_BG: Tensor, state: Any, product: PartProducts) -> tuple[LstmState, _Saved]:
        """Steps 1 to 4."""
        h_before, c_before = state
        gates = product("h", h_before).add_(x_BG)  # 1
        i, f, g, o = gates.chunk(4, -1)
        sigmoid_(gates[..., : 2 * g.shape[-1]])  # 2: i and f lie side by side
        g.tanh_()
        sigmoid_(o)
        c = torch.addcmul(f * c_before, i, g)  # 3
        return LstmState(o * c, c), _Saved(gates, c_before, c)  # 4

    def backward(self, saved: _Saved, dstate: Any, product: PartProducts) -> tuple[Tensor, LstmState]:
        """Steps 4 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        dh, dc = dstate
        gates, c_before, c = saved
        i, f, g, o = gates.chunk(4, -1)
        da = torch.empty_like(gates)
        di, df, dg, do = da.chunk(4, -1)
        torch.mul(dh, c, out=do)  # 4
        dc = torch.addcmul(dc, dh, o)
        torch.mul(dc, g, out=di)  # 3
        torch.mul(dc, c_before, out=df)
        torch.mul(dc, i, out=dg)
        dc_before = dc * f
        size = g.shape[-1]
        sigmoid_back_(da[..., : 2 * size], gates[..., : 2 * size])  # 2
        tanh_back_(dg, g)
        sigmoid_back_(do, o)
        return da, LstmState(product.back("h", da), dc_before)  # 1
