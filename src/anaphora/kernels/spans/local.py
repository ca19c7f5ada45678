"""A window around one position of each step (Luong, Pham and Manning 2015, section 3.2).

    local-m   p_t = t, the monotonic guess; at most the last position, where the window stays
    local-p   p_t is predicted, and the weights fall off around it

    1  u   = tanh(W_p h)
    2  r   = sigm(v_p' u)
    3  p   = S r                            S: positions of the sentence
    4  d_s = s - p                          closed where |d_s| > D
    5  g_s = exp(-d_s^2 / (2 (D/2)^2))      times the weights, which then no longer sum to 1

Positions and steps count from 1. A window may reach beyond the sentence: what is there has no weight.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.spans.span import Focus, Span
from anaphora.options import MAX_LENGTH


class LocalMonotonic(Span):
    """The window that moves on by one position a step."""

    kind: Literal["local-m"] = "local-m"
    radius: Annotated[int, Ge(1), Le(MAX_LENGTH)] = 10
    """D: how many positions are looked at on either side of the centre."""

    beside: ClassVar[tuple[str, ...]] = ("clock",)
    """The number of the step."""

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V]) -> tuple[Focus[V], tuple[V, V]]:
        """p = t, and step 4."""
        read = beside[0], ops.sentences("length")
        (open_,) = ops.fused_over_memory("monotonic_window", self._window, (*read, ops.number(self.radius)), (2,))
        return Focus(open_, None), read

    def _window(self, ops: Ops[V], t: V, length: V, radius: V) -> Sequence[V]:
        return [ops.near(ops.sub(ops.places(), ops.minimum(t, length)), -self.radius, self.radius)]  # 4

    def centre(self, saved: tuple[Any, Any]) -> Any:
        """p."""
        t, length = saved
        return t.minimum(length)


class LocalPredictive(Span):
    """The window around a predicted position, looked at through a Gaussian."""

    kind: Literal["local-p"] = "local-p"
    radius: Annotated[int, Ge(1), Le(MAX_LENGTH)] = 10
    """D: how many positions are looked at on either side of the centre; half of it is the Gaussian's deviation."""

    def weights(self, query: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_p and v_p."""
        return {"centre": (hidden, query), "centre_v": (1, hidden)}

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V]) -> tuple[Focus[V], tuple[V, ...]]:
        """Steps 1 to 5."""
        u = ops.tanh(ops.times("centre", query))  # 1
        read, positions = (ops.times("centre_v", u), *self._ends(ops)), ops.positions
        open_, g, r, d = ops.fused_over_memory("predictive_window", self._window, read, (2, positions, 1, positions))
        return Focus(open_, g), (u, r, d, g)

    def _window(self, ops: Ops[V], a: V, length: V, radius: V) -> Sequence[V]:
        r = ops.sigmoid(a)  # 2
        d = ops.sub(ops.places(), ops.mul(r, length))  # 3, 4
        g = ops.exp(ops.scale(ops.mul(d, d), -2 / self.radius**2))  # 5
        return ops.near(d, -self.radius, self.radius), g, r, d

    def centre(self, saved: tuple[Any, ...]) -> Any:
        """p, from the distance of the first position."""
        return 1 - saved[2][..., :1]

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dfactor: V, open_: V) -> Sequence[V]:
        """Steps 5 to 1 undone."""
        u, r, d, g = saved
        read = g, r, d, dfactor, *self._ends(ops), open_
        (da,) = ops.fused_over_memory("predictive_window_back", self._window_back, read, (1,))
        return [ops.back("centre", ops.tanh_back(u, ops.back("centre_v", da)))]  # 2, 1

    def _window_back(self, ops: Ops[V], g: V, r: V, d: V, dg: V, length: V, radius: V, open_: V) -> Sequence[V]:
        dd = ops.scale(ops.mul(ops.mul(dg, g), d), -4 / self.radius**2)  # 5
        dp = ops.scale(ops.row_sum(dd), -1)  # 4
        return [ops.sigmoid_back(r, ops.mul(dp, length))]  # 3, 2

    def _ends(self, ops: Ops[V]) -> tuple[V, V]:
        """Return length of each sentence, and radius."""
        return ops.sentences("length"), ops.number(self.radius)
