"""The simple recurrent unit (Elman 1990).

1  a   = x_t + W_h h_{t-1}
2  h_t = f(a)                       f is tanh, sigm or relu
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.ops import Ops, V


class Elman(Cell):
    """The unit without gates."""

    kind: Literal["elman"] = "elman"
    activation: Literal["tanh", "sigmoid", "relu"] = "tanh"
    """The function f."""

    blocks: ClassVar[str] = "h"

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], V]:
        """Steps 1 and 2."""
        read = ops.times("h", state[0]), x
        (h,) = ops.fuse(f"elman_step_{self.activation}", self._step, read, (ops.width(x),))
        return (h,), h

    def _step(self, ops: Ops[V], wh: V, x: V) -> Sequence[V]:
        a = ops.add(wh, x)  # 1
        return [getattr(ops, self.activation)(a)]  # 2

    def backward(self, ops: Ops[V], saved: V, dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 2 and 1 undone; section 1 of the derivation in ``kernels/README.md``."""
        read = saved, dstate[0]
        (da,) = ops.fuse(f"elman_step_{self.activation}_back", self._step_back, read, (ops.width(saved),))
        return da, (ops.back("h", da),)  # 1

    def _step_back(self, ops: Ops[V], h: V, dh: V) -> Sequence[V]:
        return [getattr(ops, f"{self.activation}_back")(h, dh)]  # 2
