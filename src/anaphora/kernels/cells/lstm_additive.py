"""The first step towards the LSTM: a memory that is only ever added to.

1  a   = x_t + W_h h_{t-1}
2  g   = tanh(a)
3  c_t = c_{t-1} + g
   h_t = c_t

The output is the memory, so one tensor is carried, under the name h.
"""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.products import PartProducts


class LstmAdditiveState(NamedTuple):
    """The output, which is the memory too, ... x H."""

    h: Tensor


class LstmAdditive(Cell):
    """The memory without gates."""

    kind: Literal["lstm-additive"] = "lstm-additive"
    """The unit's name."""

    gates: ClassVar[int] = 1
    state: ClassVar[tuple[str, ...]] = LstmAdditiveState._fields

    @property
    def products(self) -> tuple[tuple[str, int], ...]:
        """The candidate sees the previous output."""
        return (("h", 1),)

    def forward(self, x_BG: Tensor, state: Any, product: PartProducts) -> tuple[LstmAdditiveState, Tensor]:
        """Steps 1 to 3."""
        (h_before,) = state
        g = product("h", h_before).add_(x_BG).tanh_()  # 1, 2
        return LstmAdditiveState(h_before + g), g  # 3

    def backward(self, saved: Tensor, dstate: Any, product: PartProducts) -> tuple[Tensor, LstmAdditiveState]:
        """Steps 3 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        (dh,) = dstate
        g = saved
        da = torch.addcmul(dh, dh * g, g, value=-1)  # 3, 2: dg = dh
        return da, LstmAdditiveState(product.back("h", da).add_(dh))  # 1, 3
