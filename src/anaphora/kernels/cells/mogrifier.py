"""Mogrifier LSTM: input and state gate each other in rounds before the step (Melis, Kocisky and Blunsom 2020, section 2).

1  n = 1, 3, ..:  x^n = 2 sigm(Q_n h^{n-1}) * x^{n-2}       x^{-1} = x_t, h^0 = h_{t-1}
   n = 2, 4, ..:  h^n = 2 sigm(R_n x^{n-1}) * h^{n-2}       for n up to ``rounds``
2  x_a = W x + b                                            of the last x; blocks i, f, g, o
3  the step of an LSTM from x_a, the last h, and c_{t-1}

The matrices Q_n are called ``q1``, ``q3``, .., the R_n ``r2``, ``r4``, .., and W is ``x``. In the paper x_t is the input
itself; here it is a projection of it to H numbers, the unit's only block, so that all matrices are square in blocks. They
have full rank.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from anaphora.kernels.cells.cell import LSTM_GATES, Forgetting
from anaphora.kernels.cells.lstm import Lstm
from anaphora.kernels.ops import Ops, V

_LSTM = Lstm()


class Mogrifier(Forgetting):
    """The LSTM whose input and state gate each other first."""

    kind: Literal["mogrifier"] = "mogrifier"
    rounds: Annotated[int, Ge(1), Le(9)] = 5
    """Number of gates: the first is of the state and for the input, the second of that and for the state, and so on."""

    blocks: ClassVar[str] = "x"
    gate_names = LSTM_GATES
    candidate: ClassVar[str] = "g"
    state: ClassVar[tuple[str, ...]] = ("h", "c")

    @property
    def matmuls(self) -> tuple[tuple[str, str], ...]:
        """Those of the rounds, and the two of an LSTM."""
        rounds = [(f"q{n}", "x") if n % 2 else (f"r{n}", "h") for n in range(1, self.rounds + 1)]
        return (*rounds, ("x", "ifgo"), ("h", "ifgo"))

    @property
    def vectors(self) -> tuple[str, ...]:
        """The parts of b."""
        return tuple(f"b_{gate}" for gate in _LSTM.blocks)

    def start_bias(self, bias_G: Any) -> None:
        """The bias of x_t is no gate's."""

    def start_vectors(self, vectors: Mapping[str, Any]) -> None:
        vectors["b_f"].add_(self.forget_bias)

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[Any, ...]]:
        """Steps 1 to 3."""
        h, gated = state[0], list[tuple[str, V, V]]()
        for name, letter in self.matmuls[: self.rounds]:
            s = ops.sigmoid(ops.times(name, h if letter == "x" else x))  # 1
            gated.append((name, s, x if letter == "x" else h))
            half = ops.mul(s, gated[-1][2])
            x, h = (ops.add(half, half), h) if letter == "x" else (x, ops.add(half, half))
        a = zip(self.vectors, ops.split(ops.times("x", x), 1, 1, 1, 1), strict=True)
        x_a = ops.join(*(ops.add_vector(part, vector) for vector, part in a))  # 2
        new, saved = _LSTM.forward(ops, x_a, (h, state[1]))  # 3
        return new, (saved, gated)

    def backward(self, ops: Ops[V], saved: tuple[Any, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 3 to 1 undone; section 2 of the derivation in ``kernels/README.md``."""
        of_lstm, gated = saved
        da, (dh, dc) = _LSTM.backward(ops, of_lstm, dstate)  # 3
        for vector, d in zip(self.vectors, ops.split(da, 1, 1, 1, 1), strict=True):
            ops.add_vector_gradient(vector, d)  # 2
        dx = ops.back("x", da)
        for name, s, before in reversed(gated):
            of_x = name.startswith("q")
            dgated = dx if of_x else dh
            dtwice = ops.add(dgated, dgated)  # 1
            dbefore, ds = ops.mul(dtwice, s), ops.mul(dtwice, before)
            dgate = ops.back(name, ops.sigmoid_back(s, ds))
            dx, dh = (dbefore, ops.add(dh, dgate)) if of_x else (ops.add(dx, dgate), dbefore)
        return dx, (dh, dc)

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """i, f, g, o."""
        return _LSTM.gates_of(saved[0])
