"""Multiplicative unit: the input chooses the recurrent matrix (Sutskever, Martens and Hinton 2011, section 4.2).

1  p   = W_mh h_{t-1}
2  m   = x_m * p                       x_m = W_mx x_t, so that W_hm diag(W_mx x_t) W_mh takes the place of W_hh
3  a   = x_h + W_hm m                  x_h = W_hx x_t + b
4  h_t = tanh(a)

The blocks of x are x_m, x_h. With ``bias = true`` both have a bias; the paper gives x_m none, so its share starts at 0.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.ops import Ops, V


class Multiplicative(Cell):
    """The multiplicative recurrent unit, with as many factors as units."""

    kind: Literal["multiplicative"] = "multiplicative"

    blocks: ClassVar[str] = "mh"

    matmuls: ClassVar[tuple[tuple[str, str], ...]] = (("h", "m"), ("m", "h"))
    """W_mh sees the previous output, W_hm the factors."""

    def start_bias(self, bias_G: Any) -> None:
        """The factors start as the paper has them, without a bias."""
        bias_G.chunk(2)[0].zero_()

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[V, ...]]:
        """Steps 1 to 4."""
        x_m, x_h = ops.split(x, 1, 1)
        p = ops.times("h", state[0])  # 1
        h = ops.tanh(ops.add(ops.times("m", ops.mul(x_m, p)), x_h))  # 2, 3, 4
        return (h,), (x_m, p, h)

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 4 to 1 undone; section 3 of the derivation in ``kernels/README.md``."""
        (x_m, p, h), (dh,) = saved, dstate
        da = ops.tanh_back(h, dh)  # 4
        dm = ops.back("m", da)  # 3
        return ops.join(ops.mul(dm, p), da), (ops.back("h", ops.mul(dm, x_m)),)  # 2, 1
