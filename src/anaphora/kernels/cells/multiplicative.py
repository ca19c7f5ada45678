"""Multiplicative unit: the input chooses the recurrent matrix (Sutskever, Martens and Hinton 2011, section 4.2).

1  p   = W_mh h_{t-1}
2  m   = x_m * p                       x_m = W_mx x_t, so that W_hm diag(W_mx x_t) W_mh takes the place of W_hh
3  a   = x_h + W_hm m                  x_h = W_hx x_t + b
4  h_t = tanh(a)

The blocks of x are x_m, x_h. With ``bias = true`` both have a bias; the paper gives x_m none, so its share starts at 0.
"""

from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell, State
from anaphora.kernels.matmul import PartMatmuls


class _Saved(NamedTuple):
    x_m: Tensor
    p: Tensor
    h: Tensor


class Multiplicative(Cell):
    """The multiplicative recurrent unit, with as many factors as units."""

    kind: Literal["multiplicative"] = "multiplicative"

    gates: ClassVar[int] = 2

    @property
    def matmuls(self) -> tuple[tuple[str, int], ...]:
        """W_mh sees the previous output, W_hm the factors."""
        return (("h", 1), ("m", 1))

    def start_bias(self, bias_G: Tensor) -> None:
        """The factors start as the paper has them, without a bias."""
        bias_G.chunk(2)[0].zero_()

    def forward(self, x_BG: Tensor, state: State, matmul: PartMatmuls) -> tuple[State, _Saved]:
        """Steps 1 to 4."""
        (h_before,) = state
        x_m, x_h = x_BG.chunk(2, -1)
        p = matmul("h", h_before)  # 1
        h = matmul("m", x_m * p).add_(x_h).tanh_()  # 2, 3, 4
        return (h,), _Saved(x_m, p, h)

    def backward(self, saved: _Saved, dstate: State, matmul: PartMatmuls) -> tuple[Tensor, State]:
        """Steps 4 to 1 undone; section 3 of the derivation in ``kernels/README.md``."""
        (dh,) = dstate
        x_m, p, h = saved
        dx = h.new_empty(*h.shape[:-1], 2 * h.shape[-1])
        dx_m, dx_h = dx.chunk(2, -1)
        torch.addcmul(dh, dh * h, h, value=-1, out=dx_h)  # 4
        dm = matmul.back("m", dx_h)  # 3
        torch.mul(dm, p, out=dx_m)  # 2
        return dx, (matmul.back("h", dm * x_m),)  # 1
