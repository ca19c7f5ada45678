"""The second step towards the LSTM: an input gate decides what is added to the memory.

1  a   = x_t + W_h h_{t-1}                           blocks i, g
2  i   = sigm(a_i)
   g   = tanh(a_g)
3  c_t = c_{t-1} + i * g
   h_t = c_t

The output is the memory, so one tensor is carried, under the name h.
"""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_
from anaphora.kernels.products import PartProducts


class LstmInputState(NamedTuple):
    """The output, which is the memory too, ... x H."""

    h: Tensor


class LstmInput(Cell):
    """The memory with an input gate."""

    kind: Literal["lstm-input"] = "lstm-input"
    """The unit's name."""

    gates: ClassVar[int] = 2
    state: ClassVar[tuple[str, ...]] = LstmInputState._fields

    @property
    def products(self) -> tuple[tuple[str, int], ...]:
        """Gate and candidate see the previous output."""
        return (("h", 2),)

    def forward(self, x_BG: Tensor, state: Any, product: PartProducts) -> tuple[LstmInputState, Tensor]:
        """Steps 1 to 3."""
        (h_before,) = state
        gates = product("h", h_before).add_(x_BG)  # 1
        i, g = gates.chunk(2, -1)
        sigmoid_(i)  # 2
        g.tanh_()
        return LstmInputState(torch.addcmul(h_before, i, g)), gates  # 3

    def backward(self, saved: Tensor, dstate: Any, product: PartProducts) -> tuple[Tensor, LstmInputState]:
        """Steps 3 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        (dh,) = dstate
        i, g = saved.chunk(2, -1)
        da = torch.empty_like(saved)
        di, dg = da.chunk(2, -1)
        torch.mul(dh, g, out=di)  # 3
        torch.mul(dh, i, out=dg)
        sigmoid_back_(di, i)  # 2
        tanh_back_(dg, g)
        return da, LstmInputState(product.back("h", da).add_(dh))  # 1, 3
