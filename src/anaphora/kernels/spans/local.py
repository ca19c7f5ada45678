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

from typing import Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import MAX_LENGTH
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_
from anaphora.kernels.spans.span import Focus, Span, positions


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


class Centred(NamedTuple):
    """What going back needs."""

    u_XBA: Tensor
    r_XB1: Tensor
    d_XBS: Tensor
    g_XBS: Tensor


class LocalPredictive(Span):
    """The window around a predicted position, looked at through a Gaussian."""

    kind: Literal["local-p"] = "local-p"
    radius: int = Field(10, ge=1, le=MAX_LENGTH)
    """D: how many positions are looked at on either side of the centre; half of it is the Gaussian's deviation."""

    def weights(self, query: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_p and v_p."""
        return {"centre": (hidden, query), "centre_v": (1, hidden)}

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Focus, Centred]:
        """Steps 1 to 5."""
        closed_BS, s_S = positions(matmul, query_XBQ.shape[1])
        u_XBA = torch.tanh(matmul("centre", query_XBQ))  # 1
        r_XB1 = sigmoid_(matmul("centre_v", u_XBA))  # 2
        d_XBS = s_S - r_XB1 * matmul.sentences("length", query_XBQ.shape[1])  # 3, 4
        g_XBS = torch.exp(d_XBS * d_XBS * (-2 / self.radius**2))  # 5
        return Focus(closed_BS | (d_XBS.abs() > self.radius), g_XBS), Centred(u_XBA, r_XB1, d_XBS, g_XBS)

    def centre(self, saved: Centred) -> Tensor:
        """p, from the distance of the first position."""
        return 1 - saved.d_XBS[..., :1]

    def backward(self, saved: Centred, dfactor_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """Steps 5 to 1 undone."""
        u_XBA, r_XB1, d_XBS, g_XBS = saved
        dd_XBS = dfactor_XBS * g_XBS * d_XBS * (-4 / self.radius**2)  # 5
        dp_XB1 = -dd_XBS.sum(-1, keepdim=True)  # 4
        dr_XB1 = dp_XB1 * matmul.sentences("length", u_XBA.shape[1])  # 3
        du_XBA = matmul.back("centre_v", dr_XB1 * (r_XB1 - r_XB1 * r_XB1))  # 2
        return (matmul.back("centre", du_XBA * (1 - u_XBA * u_XBA)),)  # 1
