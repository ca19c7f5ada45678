"""Long short-term memory (Hochreiter and Schmidhuber 1997; this form: Zaremba, Sutskever and Vinyals 2014, section 3).

1  a       = x_t + W_h h_{t-1}                       blocks i, f, g, o, the order of torch.nn.LSTM
2  i, f, o = sigm(a_i), sigm(a_f), sigm(a_o)
   g       = tanh(a_g)
3  c_t     = f * c_{t-1} + i * g
4  m       = tanh(c_t)
5  h_t     = o * m
"""

from typing import ClassVar, Generic, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels import compiled
from anaphora.kernels.cells.cell import Forgetting, State
from anaphora.kernels.lowering import Block, PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_


class Saved(NamedTuple, Generic[Block]):
    """Values of a step, saved for the way back."""

    gates: Block
    c_before: Block
    m: Block


class Lstm(Forgetting):
    """The LSTM without peepholes."""

    kind: Literal["lstm"] = "lstm"

    gates: ClassVar[int] = 4
    state: ClassVar[tuple[str, ...]] = ("h", "c")

    def forward(self, x_BG: Tensor, state: State, matmul: PartMatmuls) -> tuple[State, Saved[Tensor]]:
        """Steps 1 to 5."""
        h_before, c_before = state
        gates = matmul("h", h_before)
        if not matmul.native(gates):
            gates.add_(x_BG)  # 1
            i, f, g, o = gates.chunk(4, -1)
            size = g.shape[-1]
            sigmoid_(gates[..., : 2 * size])  # 2: i and f lie side by side
            g.tanh_()
            sigmoid_(o)
            c = torch.addcmul(f * c_before, i, g)  # 3
            m = torch.tanh(c)  # 4
            return (o * m, c), Saved(gates, c_before, m)  # 5
        c, m, h = compiled.lstm_forward(gates, x_BG, c_before)  # 1 to 5
        return (h, c), Saved(gates, c_before, m)

    def gates_of(self, saved: Saved[Tensor]) -> dict[str, Tensor]:
        """i, f, g, o."""
        return dict(zip("ifgo", saved.gates.chunk(4, -1), strict=True))

    def backward(self, saved: Saved[Tensor], dstate: State, matmul: PartMatmuls) -> tuple[Tensor, State]:
        """Steps 5 to 1 undone; equations of section 2 of the derivation in ``kernels/README.md``."""
        dh, dc = dstate
        gates, c_before, m = saved
        if not matmul.native(gates):
            i, f, g, o = gates.chunk(4, -1)
            da = torch.empty_like(gates)
            di, df, dg, do = da.chunk(4, -1)
            torch.mul(dh, m, out=do)  # 5
            dc = tanh_back_(dh * o, m).add_(dc)  # 5, 4
            torch.mul(dc, g, out=di)  # 3
            torch.mul(dc, c_before, out=df)
            torch.mul(dc, i, out=dg)
            dc_before = dc * f
            tanh_back_(dg, g)  # 2
            size = g.shape[-1]
            sigmoid_back_(da[..., : 2 * size], gates[..., : 2 * size])
            sigmoid_back_(do, o)
            return da, (matmul.back("h", da), dc_before)  # 1
        da, dc_before = compiled.lstm_backward(gates, c_before, m, dh, dc)  # 5 to 2
        return da, (matmul.back("h", da), dc_before)  # 1

    def lower(self, x: Value, state: Values, matmul: PartLowering) -> tuple[Values, Saved[Value]]:
        """Steps 1 to 5."""
        h_before, c_before = state
        gates = matmul("h", h_before)
        c, m, h = (matmul.value(c_before.width) for _ in range(3))
        matmul.run("lstm_step", (gates, c, m, h), (x, c_before))
        return (h, c), Saved(gates, c_before, m)

    def lower_back(
        self, saved: Saved[Value], dstate: tuple[Value | None, ...], matmul: PartLowering
    ) -> tuple[Value, Values]:
        """Steps 5 to 1 undone."""
        gates, c_before, m = saved
        dh, dc = (matmul.given(d, m.width) for d in dstate)
        da, dc_before = matmul.value(gates.width), matmul.value(m.width, merges=True)
        matmul.run("lstm_step_back", (da, dc_before), (gates, c_before, m, dh, dc))  # 5 to 2
        return da, (matmul.back("h", da), dc_before)  # 1
