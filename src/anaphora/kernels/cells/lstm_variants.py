"""The LSTM built up gate by gate, and with single pieces left out.

1  a       = x_t + W_h h_{t-1}                       the unit's blocks, in the order i, f, g, o
2  i, f, o = sigm(a_i), sigm(a_f), sigm(a_o)
   g       = tanh(a_g)
3  c_t     = f * c_{t-1} + i * g                     without f or i: 1 in its place
4  m       = tanh(c_t)
5  h_t     = o * m                                   without o: h_t = c_t, and one tensor is carried, h
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell, Forgetting, State
from anaphora.kernels.cells.lstm import Saved
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_


class _Variant(Cell):
    """The equations above with the gates of ``blocks``."""

    blocks: ClassVar[str]
    output_tanh: ClassVar[bool] = True
    """True if m is tanh(c), and not c."""

    def _by_name(self, blocks_BG: Tensor) -> dict[str, Tensor]:
        return dict(zip(self.blocks, blocks_BG.chunk(self.gates, -1), strict=True))

    def forward(self, x_BG: Tensor, state: State, matmul: PartMatmuls) -> tuple[State, Saved[Tensor]]:
        """Steps 1 to 5."""
        h_before, c_before = state[0], state[-1]
        gates = matmul("h", h_before).add_(x_BG)  # 1
        has = self._by_name(gates)
        for name, a in has.items():  # 2
            a.tanh_() if name == "g" else sigmoid_(a)
        kept = has["f"] * c_before if "f" in has else c_before  # 3
        c = torch.addcmul(kept, has["i"], has["g"]) if "i" in has else kept + has["g"]
        if "o" not in has:
            return (c,), Saved(gates, c_before, c)
        m = torch.tanh(c) if self.output_tanh else c  # 4
        return (has["o"] * m, c), Saved(gates, c_before, m)  # 5

    def gates_of(self, saved: Saved[Tensor]) -> dict[str, Tensor]:
        """Those that it has."""
        return self._by_name(saved.gates)

    def backward(self, saved: Saved[Tensor], dstate: State, matmul: PartMatmuls) -> tuple[Tensor, State]:
        """Steps 5 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        gates, c_before, m = saved
        dh, dc = dstate[0], dstate[-1]
        da = torch.empty_like(gates)
        has, d = self._by_name(gates), self._by_name(da)
        if "o" in has:
            torch.mul(dh, m, out=d["o"])  # 5
            dc = tanh_back_(dh * has["o"], m).add_(dc) if self.output_tanh else torch.addcmul(dc, dh, has["o"])  # 4
        if "i" in has:
            torch.mul(dc, has["g"], out=d["i"])  # 3
            torch.mul(dc, has["i"], out=d["g"])
        else:
            d["g"].copy_(dc)
        if "f" in has:
            torch.mul(dc, c_before, out=d["f"])
        for name, gate in has.items():  # 2
            (tanh_back_ if name == "g" else sigmoid_back_)(d[name], gate)
        dh_before = matmul.back("h", da)  # 1
        if "o" in has:
            return da, (dh_before, dc * has["f"] if "f" in has else dc)
        return da, (dh_before.addcmul_(dc, has["f"]) if "f" in has else dh_before.add_(dc),)  # 3


class LstmAdditive(_Variant):
    """Memory without gates: the first step towards the LSTM."""

    kind: Literal["lstm-additive"] = "lstm-additive"
    blocks: ClassVar[str] = "g"
    gates: ClassVar[int] = 1


class LstmInput(_Variant):
    """Memory with an input gate: the second step towards the LSTM."""

    kind: Literal["lstm-input"] = "lstm-input"
    blocks: ClassVar[str] = "ig"
    gates: ClassVar[int] = 2


class LstmForget(Forgetting, _Variant):
    """Memory with an input gate and a forget gate: the third step towards the LSTM."""

    kind: Literal["lstm-forget"] = "lstm-forget"
    blocks: ClassVar[str] = "ifg"
    gates: ClassVar[int] = 3


class TwoGate(Forgetting, _Variant):
    """State with two gates, simplified from the LSTM; the same equations as ``lstm-forget``."""

    kind: Literal["two-gate"] = "two-gate"
    blocks: ClassVar[str] = "ifg"
    gates: ClassVar[int] = 3


class LstmNoForget(_Variant):
    """LSTM without a forget gate: its first form (Hochreiter and Schmidhuber 1997), and an ablation of today's."""

    kind: Literal["lstm-no-forget"] = "lstm-no-forget"
    blocks: ClassVar[str] = "igo"
    gates: ClassVar[int] = 3
    state: ClassVar[tuple[str, ...]] = ("h", "c")


class LstmNoOutputTanh(Forgetting, _Variant):
    """LSTM without a tanh between memory and output gate: an ablation."""

    kind: Literal["lstm-no-output-tanh"] = "lstm-no-output-tanh"
    blocks: ClassVar[str] = "ifgo"
    gates: ClassVar[int] = 4
    state: ClassVar[tuple[str, ...]] = ("h", "c")
    output_tanh: ClassVar[bool] = False
