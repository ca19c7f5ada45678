"""A window around the median of the weights of the step before (Chorowski et al. 2015, section 2.3, "windowing").

    1  p   = the first position up to which half of the weights of the step before lie
    2  the positions p - w .. p + w - 1 are open

Which positions are open has no gradient.
"""

from typing import Literal

from pydantic import Field
from torch import Tensor

from anaphora.config import MAX_LENGTH
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.parts import previous
from anaphora.kernels.spans.span import Focus, Span, positions


class Median(Span):
    """The window that stays where the step before looked."""

    kind: Literal["median"] = "median"
    radius: int = Field(10, ge=2, le=MAX_LENGTH)
    """w: how many positions are looked at before the middle of what the step before looked at; from there on, as many.
    With less than 2 the window could never move on."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The weights of the step before; at first 1 at the first position."""
        return (previous("weights"),)

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Focus, Tensor]:
        """Steps 1 and 2."""
        closed_BS, s_S = positions(matmul, query_XBQ.shape[1])
        so_far_XBS = beside[0].cumsum(-1)
        p_XB1 = (2 * so_far_XBS < so_far_XBS[..., -1:]).sum(-1, keepdim=True) + 1  # 1
        closed_XBS = closed_BS | (s_S < p_XB1 - self.radius) | (s_S >= p_XB1 + self.radius)
        return Focus(closed_XBS, None), p_XB1.to(query_XBQ)  # 2

    def centre(self, saved: Tensor) -> Tensor:
        """p."""
        return saved
