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

from typing import Generic, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import MAX_LENGTH
from anaphora.kernels.lowering import Block, PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_
from anaphora.kernels.spans.span import Focus, LoweredFocus, Span, positions


class LocalMonotonic(Span):
    """The window that moves on by one position a step."""

    kind: Literal["local-m"] = "local-m"
    radius: int = Field(10, ge=1, le=MAX_LENGTH)
    """D: how many positions are looked at on either side of the centre."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The number of the step."""
        return ("clock",)

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Focus, Tensor]:
        """p = t, and step 4."""
        (t_XB1,) = beside
        closed_BS, s_S = positions(matmul, query_XBQ.shape[1])
        p_XB1 = torch.minimum(t_XB1, matmul.sentences("length", query_XBQ.shape[1]))
        return Focus(closed_BS | ((s_S - p_XB1).abs() > self.radius), None), p_XB1  # 4

    def centre(self, saved: Tensor) -> Tensor:
        """p."""
        return saved

    def lower(self, query: Value, beside: Values, attend: PartLowering) -> tuple[LoweredFocus, None]:
        """p = t, and step 4."""
        window = attend.value(2)
        attend.run("monotonic_window", (window,), (*beside, attend.sentences("length"), attend.number(self.radius)))
        return LoweredFocus(window, None), None


class Centred(NamedTuple, Generic[Block]):
    """Values saved for the backward pass."""

    u_XBA: Block
    r_XB1: Block
    d_XBS: Block
    g_XBS: Block


class LocalPredictive(Span):
    """The window around a predicted position, looked at through a Gaussian."""

    kind: Literal["local-p"] = "local-p"
    radius: int = Field(10, ge=1, le=MAX_LENGTH)
    """D: how many positions are looked at on either side of the centre; half of it is the Gaussian's deviation."""

    def weights(self, query: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_p and v_p."""
        return {"centre": (hidden, query), "centre_v": (1, hidden)}

    def forward(
        self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls
    ) -> tuple[Focus, Centred[Tensor]]:
        """Steps 1 to 5."""
        closed_BS, s_S = positions(matmul, query_XBQ.shape[1])
        u_XBA = torch.tanh(matmul("centre", query_XBQ))  # 1
        r_XB1 = sigmoid_(matmul("centre_v", u_XBA))  # 2
        d_XBS = s_S - r_XB1 * matmul.sentences("length", query_XBQ.shape[1])  # 3, 4
        g_XBS = torch.exp(d_XBS * d_XBS * (-2 / self.radius**2))  # 5
        return Focus(closed_BS | (d_XBS.abs() > self.radius), g_XBS), Centred(u_XBA, r_XB1, d_XBS, g_XBS)

    def centre(self, saved: Centred[Tensor]) -> Tensor:
        """p, from the distance of the first position."""
        return 1 - saved.d_XBS[..., :1]

    def backward(self, saved: Centred[Tensor], dfactor_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """Steps 5 to 1 undone."""
        u_XBA, r_XB1, d_XBS, g_XBS = saved
        dd_XBS = dfactor_XBS * g_XBS * d_XBS * (-4 / self.radius**2)  # 5
        dp_XB1 = -dd_XBS.sum(-1, keepdim=True)  # 4
        dr_XB1 = dp_XB1 * matmul.sentences("length", u_XBA.shape[1])  # 3
        du_XBA = matmul.back("centre_v", dr_XB1 * (r_XB1 - r_XB1 * r_XB1))  # 2
        return (matmul.back("centre", du_XBA * (1 - u_XBA * u_XBA)),)  # 1

    def lower(self, query: Value, beside: Values, attend: PartLowering) -> tuple[LoweredFocus, Centred[Value]]:
        """Steps 1 to 5."""
        length, radius, positions = self._ends(attend)
        u = attend("centre", query)
        attend.run("tanh_rows", (u,), (u,))  # 1
        window, r, d, g = (attend.value(width) for width in (2, 1, positions, positions))
        attend.run("predictive_window", (window, g, r, d), (attend("centre_v", u), length, radius))  # 2 to 5
        return LoweredFocus(window, g), Centred(u, r, d, g)

    def lower_back(self, saved: Centred[Value], dfactor: Value, window: Value, attend: PartLowering) -> Values:
        """Steps 5 to 1 undone."""
        u, r, d, g = saved
        length, radius, _ = self._ends(attend)
        da, du = attend.value(1), attend.value(u.width)
        attend.run("predictive_window_back", (da,), (g, r, d, dfactor, length, radius, window))  # 5 to 2
        attend.run("tanh_rows_back", (du,), (u, attend.back("centre_v", da)))  # 2, 1
        return (attend.back("centre", du),)

    def _ends(self, attend: PartLowering) -> tuple[Value, Value, int]:
        """Length of each sentence, radius, and positions of the memory."""
        return attend.sentences("length"), attend.number(self.radius), attend.memory_width("closed")
