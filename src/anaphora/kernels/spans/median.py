"""A window around the median of the weights of the step before (Chorowski et al. 2015, section 2.3, "windowing").

    1  p   = the first position up to which half of the weights of the step before lie
    2  the positions p - w .. p + w - 1 are open

Which positions are open has no gradient.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import previous
from anaphora.kernels.spans.span import Focus, Span
from anaphora.options import MAX_LENGTH


class Median(Span):
    """The window that stays where the step before looked."""

    kind: Literal["median"] = "median"
    radius: Annotated[int, Ge(2), Le(MAX_LENGTH)] = 10
    """w: how many positions are looked at before the middle of what the step before looked at; from there on, as many.
    With less than 2 the window could never move on."""

    beside: ClassVar[tuple[str, ...]] = (previous("weights"),)
    """The weights of the step before; at first 1 at the first position."""

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V]) -> tuple[Focus[V], V]:
        """Steps 1 and 2."""
        p = ops.median(beside[0])  # 1
        return Focus(ops.near(ops.sub(ops.places(), p), -self.radius, self.radius - 1), None), p  # 2

    def centre(self, saved: Any) -> Any:
        """p."""
        return saved

    def obstacle(self) -> str:
        return f"the window '{self.kind}' has no native body"
