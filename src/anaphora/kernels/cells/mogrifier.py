"""Mogrifier LSTM: input and state gate each other in rounds before the step (Melis et al. 2020, section 2).

1  n = 1, 3, ..:  x^n = 2 sigm(Q_n h^{n-1}) * x^{n-2}       x^{-1} = x_t, h^0 = h_{t-1}
   n = 2, 4, ..:  h^n = 2 sigm(R_n x^{n-1}) * h^{n-2}       for n up to ``rounds``
2  x_a = W x + b                                            of the last x; blocks i, f, g, o
3  the step of an LSTM from x_a, the last h, and c_{t-1}

The matrices Q_n are called ``q1``, ``q3``, .., the R_n ``r2``, ``r4``, .., and W is ``x``. In the paper x_t is the
input itself; here it is a projection to H numbers, the unit's only block, so that Q_n and R_n are H x H, of
full rank.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from anaphora.kernels.cells.cell import LSTM_GATES, Forgetting
from anaphora.kernels.cells.lstm import Lstm
from anaphora.kernels.ops import Ops, V

_LSTM, _OTHER = Lstm(), {"x": "h", "h": "x"}


class Mogrifier(Forgetting):
    """The LSTM whose input and state gate each other first."""

    kind: Literal["mogrifier"] = "mogrifier"
    rounds: Annotated[int, Ge(1), Le(9)] = 5
    """Number of gates: the first is of the state and for the input, the second of that and for the state, and so on."""

    blocks: ClassVar[str] = "x"
    gate_names = LSTM_GATES
    candidate: ClassVar[str] = "g"
    state: ClassVar[tuple[str, ...]] = ("h", "c")
    vectors: ClassVar[tuple[str, ...]] = ("b_i", "b_f", "b_g", "b_o")

    @property
    def matmuls(self) -> tuple[tuple[str, str], ...]:
        """Matrices of the rounds, and the two of an LSTM."""
        rounds = [(f"q{n}", "x") if n % 2 else (f"r{n}", "h") for n in range(1, self.rounds + 1)]
        return (*rounds, ("x", "ifgo"), ("h", "ifgo"))

    def start_bias(self, bias_G: Any) -> None:
        """The bias of x_t is no gate's."""

    def start_vectors(self, vectors: Mapping[str, Any]) -> None:
        vectors["b_f"].add_(self.forget_bias)

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[Any, ...]]:
        """Steps 1 to 3."""
        of, gated = {"x": x, "h": state[0]}, list[tuple[str, str, V, V]]()
        for name, target in self.matmuls[: self.rounds]:
            s = ops.sigmoid(ops.times(name, of[_OTHER[target]]))  # 1
            gated.append((name, target, s, of[target]))
            half = ops.mul(s, of[target])
            of[target] = ops.add(half, half)
        a = zip(self.vectors, ops.split(ops.times("x", of["x"]), 1, 1, 1, 1), strict=True)
        x_a = ops.join(*(ops.add_vector(part, vector) for vector, part in a))  # 2
        new, saved = _LSTM.forward(ops, x_a, (of["h"], state[1]))  # 3
        return new, (saved, gated)

    def backward(self, ops: Ops[V], saved: tuple[Any, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 3 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        of_lstm, gated = saved
        da, (dh, dc) = _LSTM.backward(ops, of_lstm, dstate)  # 3
        for vector, da_s in zip(self.vectors, ops.split(da, 1, 1, 1, 1), strict=True):
            ops.add_vector_gradient(vector, da_s)  # 2
        d = {"x": ops.back("x", da), "h": dh}
        for name, target, s, before in reversed(gated):
            dtwice = ops.add(d[target], d[target])  # 1
            dother = ops.back(name, ops.sigmoid_back(s, ops.mul(dtwice, before)))
            d |= {target: ops.mul(dtwice, s), _OTHER[target]: ops.add(d[_OTHER[target]], dother)}
        return d["x"], (d["h"], dc)

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """i, f, g, o."""
        return _LSTM.gates_of(saved[0])
