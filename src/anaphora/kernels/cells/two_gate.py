"""The unit with two gates and no cell, which is also the third step towards the LSTM: a memory that can forget.

1  a    = x_t + W_h h_{t-1}                          blocks i, f, g
2  i, f = sigm(a_i), sigm(a_f)
   g    = tanh(a_g)
3  h_t  = f * h_{t-1} + i * g

Built up from a memory, c_t = f * c_{t-1} + i * g with h_t = c_t; simplified from the LSTM, a state with two gates. The
equations are the same, so both names stand for the one unit below.
"""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Forgetting
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_
from anaphora.kernels.products import PartProducts


class TwoGateState(NamedTuple):
    """The output, which is the memory too, ... x H."""

    h: Tensor


class _Saved(NamedTuple):
    gates: Tensor
    h_before: Tensor


class _TwoGates(Forgetting):
    """Input gate, forget gate and candidate."""

    gates: ClassVar[int] = 3
    state: ClassVar[tuple[str, ...]] = TwoGateState._fields

    @property
    def products(self) -> tuple[tuple[str, int], ...]:
        """Gates and candidate see the previous output."""
        return (("h", 3),)

    def forward(self, x_BG: Tensor, state: Any, product: PartProducts) -> tuple[TwoGateState, _Saved]:
        """Steps 1 to 3."""
        (h_before,) = state
        gates = product("h", h_before).add_(x_BG)  # 1
        i, f, g = gates.chunk(3, -1)
        sigmoid_(gates[..., : 2 * g.shape[-1]])  # 2: i and f lie side by side
        g.tanh_()
        return TwoGateState(torch.addcmul(f * h_before, i, g)), _Saved(gates, h_before)  # 3

    def backward(self, saved: _Saved, dstate: Any, product: PartProducts) -> tuple[Tensor, TwoGateState]:
        """Steps 3 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        (dh,) = dstate
        gates, h_before = saved
        i, f, g = gates.chunk(3, -1)
        da = torch.empty_like(gates)
        di, df, dg = da.chunk(3, -1)
        torch.mul(dh, g, out=di)  # 3
        torch.mul(dh, h_before, out=df)
        torch.mul(dh, i, out=dg)
        size = g.shape[-1]
        sigmoid_back_(da[..., : 2 * size], gates[..., : 2 * size])  # 2
        tanh_back_(dg, g)
        return da, TwoGateState(product.back("h", da).addcmul_(dh, f))  # 1, 3


class TwoGate(_TwoGates):
    """The unit as a state with two gates."""

    kind: Literal["two-gate"] = "two-gate"
    """The unit's name."""


class LstmForget(_TwoGates):
    """The unit as a memory with an input gate and a forget gate."""

    kind: Literal["lstm-forget"] = "lstm-forget"
    """The unit's name."""
