"""Every position of the sentence (Bahdanau, Cho and Bengio 2015; "global" in Luong, Pham and Manning 2015)."""

from typing import Literal

from torch import Tensor

from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.spans.span import Focus, LoweredFocus, Span


class Global(Span):
    """The whole sentence."""

    kind: Literal["global"] = "global"

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Focus, None]:
        """All positions up to the end."""
        return Focus(matmul.sentences("closed", query_XBQ.shape[1]), None), None

    def lower(self, query: Value, beside: Values, attend: PartLowering) -> tuple[LoweredFocus, None]:
        """All positions up to the end."""
        return LoweredFocus(attend.whole("length"), None), None
