"""The simple recurrent unit (Elman 1990).

1  a   = x_t + W_h h_{t-1}
2  h_t = f(a)                       f is tanh, sigm or relu
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell, State
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_


class Elman(Cell):
    """The unit without gates."""

    kind: Literal["elman"] = "elman"
    activation: Literal["tanh", "sigmoid", "relu"] = "tanh"
    """The function f."""

    gates: ClassVar[int] = 1

    def forward(self, x_BG: Tensor, state: State, matmul: PartMatmuls) -> tuple[State, Tensor]:
        """Steps 1 and 2."""
        (h_before,) = state
        a = matmul("h", h_before).add_(x_BG)  # 1
        match self.activation:  # 2
            case "tanh":
                h = a.tanh_()
            case "sigmoid":
                h = sigmoid_(a)
            case "relu":
                h = a.relu_()
        return (h,), h

    def backward(self, saved: Tensor, dstate: State, matmul: PartMatmuls) -> tuple[Tensor, State]:
        """Steps 2 and 1 undone; section 1 of the derivation in ``kernels/README.md``."""
        (dh,) = dstate
        h = saved
        match self.activation:  # 2
            case "tanh":
                da = torch.addcmul(dh, dh * h, h, value=-1)
            case "sigmoid":
                da = torch.addcmul(h, h, h, value=-1).mul_(dh)
            case "relu":
                da = dh * (h > 0)
        return da, (matmul.back("h", da),)  # 1

    def lower(self, x: Value, state: Values, matmul: PartLowering) -> tuple[Values, Value]:
        """Steps 1 and 2."""
        h = matmul.value(x.width)
        matmul.run(f"elman_step_{self.activation}", (h,), (matmul("h", state[0]), x))
        return (h,), h

    def lower_back(self, saved: Value, dstate: tuple[Value | None, ...], matmul: PartLowering) -> tuple[Value, Values]:
        """Steps 2 and 1 undone."""
        da = matmul.value(saved.width)
        matmul.run(f"elman_step_{self.activation}_back", (da,), (saved, matmul.given(dstate[0], saved.width)))  # 2
        return da, (matmul.back("h", da),)  # 1
