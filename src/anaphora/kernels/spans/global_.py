"""Every position of the sentence (Bahdanau, Cho and Bengio 2015; "global" in Luong, Pham and Manning 2015)."""

from collections.abc import Sequence
from typing import Literal

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.spans.span import Focus, Span


class Global(Span):
    """The whole sentence."""

    kind: Literal["global"] = "global"

    def forward(self, ops: Ops[V], query: V, beside: Sequence[V]) -> tuple[Focus[V], None]:
        """Return all positions up to the end."""
        return Focus(ops.whole(), None), None
