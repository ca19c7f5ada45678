"""The LSTM built up gate by gate, and with single pieces left out.

1  a       = x_t + W_h h_{t-1}                       the unit's blocks, in the order i, f, g, o
2  i, f, o = sigm(a_i), sigm(a_f), sigm(a_o)
   g       = tanh(a_g)
3  c_t     = f * c_{t-1} + i * g                     without f or i: 1 in its place
4  m       = tanh(c_t)
5  h_t     = o * m                                   without o: h_t = c_t, and one tensor is carried, h
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.cells.cell import LSTM_GATES, Cell, Forgetting
from anaphora.kernels.ops import Ops, V


class _Variant(Cell):
    """The equations above with the gates of ``blocks``."""

    gate_names = LSTM_GATES
    candidate: ClassVar[str] = "g"
    output_tanh: ClassVar[bool] = True
    """True if m is tanh(c), and not c."""

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[Any, ...]]:
        """Steps 1 to 5."""
        h_before, c_before = state[0], state[-1]
        a = ops.split(ops.add(ops.times("h", h_before), x), *(1 for _ in self.blocks))  # 1
        by_name = zip(self.blocks, a, strict=True)
        of = {name: ops.tanh(a_s) if name == "g" else ops.sigmoid(a_s) for name, a_s in by_name}  # 2
        kept = ops.mul(of["f"], c_before) if "f" in of else c_before  # 3
        c = ops.add(kept, ops.mul(of["i"], of["g"]) if "i" in of else of["g"])
        if "o" not in of:
            return (c,), (of, c_before, c)
        m = ops.tanh(c) if self.output_tanh else c  # 4
        return (ops.mul(of["o"], m), c), (of, c_before, m)  # 5

    def backward(self, ops: Ops[V], saved: tuple[Any, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 5 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        (of, c_before, m), dh, dc = saved, dstate[0], dstate[-1]
        d = {}
        if "o" in of:
            d["o"], dm = ops.mul(dh, m), ops.mul(dh, of["o"])  # 5
            dc = ops.add(dc, ops.tanh_back(m, dm) if self.output_tanh else dm)  # 4
        if "i" in of:
            d["i"] = ops.mul(dc, of["g"])  # 3
        if "f" in of:
            d["f"] = ops.mul(dc, c_before)
        dg = ops.mul(dc, of["i"]) if "i" in of else dc
        dc_before = ops.mul(dc, of["f"]) if "f" in of else dc
        d = {name: ops.sigmoid_back(of[name], ds) for name, ds in d.items()} | {"g": ops.tanh_back(of["g"], dg)}  # 2
        da = ops.join(*(d[name] for name in self.blocks))
        dh_before = ops.back("h", da)  # 1
        if "o" in of:
            return da, (dh_before, dc_before)
        return da, (ops.add(dh_before, dc_before),)  # 3

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """Return the gates that the variant has."""
        return dict(saved[0])


class LstmAdditive(_Variant):
    """Memory without gates: the first step towards the LSTM."""

    kind: Literal["lstm-additive"] = "lstm-additive"
    blocks: ClassVar[str] = "g"


class LstmInput(_Variant):
    """Memory with an input gate: the second step towards the LSTM."""

    kind: Literal["lstm-input"] = "lstm-input"
    blocks: ClassVar[str] = "ig"


class LstmForget(Forgetting, _Variant):
    """Memory with an input gate and a forget gate: the third step towards the LSTM."""

    kind: Literal["lstm-forget"] = "lstm-forget"
    blocks: ClassVar[str] = "ifg"


class TwoGate(Forgetting, _Variant):
    """State with two gates, simplified from the LSTM; the same equations as ``lstm-forget``."""

    kind: Literal["two-gate"] = "two-gate"
    blocks: ClassVar[str] = "ifg"


class LstmNoForget(_Variant):
    """LSTM without a forget gate: its first form (Hochreiter and Schmidhuber 1997), and an ablation of today's."""

    kind: Literal["lstm-no-forget"] = "lstm-no-forget"
    blocks: ClassVar[str] = "igo"
    state: ClassVar[tuple[str, ...]] = ("h", "c")


class LstmNoOutputTanh(Forgetting, _Variant):
    """LSTM without a tanh between memory and output gate: an ablation."""

    kind: Literal["lstm-no-output-tanh"] = "lstm-no-output-tanh"
    blocks: ClassVar[str] = "ifgo"
    state: ClassVar[tuple[str, ...]] = ("h", "c")
    output_tanh: ClassVar[bool] = False


AnyVariant = LstmAdditive | LstmInput | LstmForget | LstmNoOutputTanh | LstmNoForget
