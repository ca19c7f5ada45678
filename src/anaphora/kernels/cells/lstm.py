"""Long short-term memory (Hochreiter and Schmidhuber 1997; this form: Zaremba, Sutskever and Vinyals 2014, section 3).

1  a       = x_t + W_h h_{t-1}                       blocks i, f, g, o, the order of torch.nn.LSTM
2  i, f, o = sigm(a_i), sigm(a_f), sigm(a_o)
   g       = tanh(a_g)
3  c_t     = f * c_{t-1} + i * g
4  m       = tanh(c_t)
5  h_t     = o * m
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.cells.cell import LSTM_GATES, Forgetting
from anaphora.kernels.ops import Ops, V


class Lstm(Forgetting):
    """The LSTM without peepholes."""

    kind: Literal["lstm"] = "lstm"

    blocks: ClassVar[str] = "ifgo"
    gate_names = LSTM_GATES
    candidate: ClassVar[str] = "g"
    state: ClassVar[tuple[str, ...]] = ("h", "c")

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[V, ...]]:
        """Steps 1 to 5."""
        h_before, c_before = state
        wh, size = ops.times("h", h_before), ops.width(c_before)
        gates, c, m, h = ops.fuse("lstm_step", self._step, (wh, x, c_before), (wh, size, size, size))
        return (h, c), (gates, c_before, m)

    def _step(self, ops: Ops[V], wh: V, x: V, c_before: V) -> Sequence[V]:
        a_if, a_g, a_o = ops.split(ops.add(wh, x), 2, 1, 1)  # 1
        i_and_f, g, o = ops.sigmoid(a_if), ops.tanh(a_g), ops.sigmoid(a_o)  # 2
        i, f = ops.split(i_and_f, 1, 1)
        c = ops.add(ops.mul(f, c_before), ops.mul(i, g))  # 3
        m = ops.tanh(c)  # 4
        return ops.join(i_and_f, g, o), c, m, ops.mul(o, m)  # 5

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 5 to 1 undone; equations of section 2 of the derivation in ``kernels/README.md``."""
        gates, _, m = saved
        widths = ops.width(gates), ops.width(m)
        da, dc_before = ops.fuse("lstm_step_back", self._step_back, (*saved, *dstate), widths)
        return da, (ops.back("h", da), dc_before)  # 1

    def _step_back(self, ops: Ops[V], gates: V, c_before: V, m: V, dh: V, dc: V) -> Sequence[V]:
        i, f, g, o = ops.split(gates, 1, 1, 1, 1)
        do, dm = ops.mul(dh, m), ops.mul(dh, o)  # 5
        dc = ops.add(dc, ops.tanh_back(m, dm))  # 4
        di, df, dg = ops.mul(dc, g), ops.mul(dc, c_before), ops.mul(dc, i)  # 3
        da_i, da_f = ops.sigmoid_back(i, di), ops.sigmoid_back(f, df)  # 2
        return ops.join(da_i, da_f, ops.tanh_back(g, dg), ops.sigmoid_back(o, do)), ops.mul(dc, f)

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """i, f, g, o."""
        return dict(zip(self.blocks, saved[0].chunk(4, -1), strict=True))
