"""Normalizers of attention: scores become weights that sum to 1, forward and back (Chorowski et al. 2015, section 2.3).

softmax   a = softmax(b e), sharper for b > 1
sigmoid   a_s = sigm(e_s) / sum_r sigm(e_r), "smoothing": several positions can have much weight at once

The second is a softmax too, of log sigm(e), and so it is never 0 / 0.
"""

from abc import ABC, abstractmethod
from typing import Annotated, Any, Literal

from annotated_types import Gt

from anaphora.kernels.ops import Ops, V
from anaphora.records import Record


class Normalizer(Record, ABC, extra="forbid"):
    """One way from scores to weights; a position that is not open has none."""

    @abstractmethod
    def forward(self, ops: Ops[V], e: V, open_: V, scale: float) -> tuple[V, Any]:
        """Return the weights of scores that are multiplied by ``scale``, and what ``backward`` needs beside them."""

    @abstractmethod
    def backward(self, ops: Ops[V], saved: Any, a: V, da: V, open_: V, scale: float) -> V:
        """Return the gradient of the scores."""

    def obstacle(self) -> str:
        return ""


class Softmax(Normalizer):
    """a = softmax(b e)."""

    kind: Literal["softmax"] = "softmax"
    sharpness: Annotated[float, Gt(0)] = 1.0
    """b: above 1 the largest weights gain, below 1 the others ("inverse temperature")."""

    def forward(self, ops: Ops[V], e: V, open_: V, scale: float) -> tuple[V, None]:
        """a = softmax(b e)."""
        return ops.softmax(e, open_, scale * self.sharpness), None

    def backward(self, ops: Ops[V], saved: None, a: V, da: V, open_: V, scale: float) -> V:
        """de = b a (da - a' da)."""
        return ops.softmax_back(a, da, open_, scale * self.sharpness)


class Sigmoid(Normalizer):
    """a = softmax(f), f = log sigm(e)."""

    kind: Literal["sigmoid"] = "sigmoid"

    def forward(self, ops: Ops[V], e: V, open_: V, scale: float) -> tuple[V, V]:
        """a = softmax(f)."""
        f = ops.log_sigmoid(ops.scale(e, scale))
        return ops.softmax(f, open_, 1), f

    def backward(self, ops: Ops[V], saved: V, a: V, da: V, open_: V, scale: float) -> V:
        """df as for softmax; de = df (1 - sigm(e))."""
        return ops.scale(ops.log_sigmoid_back(saved, ops.softmax_back(a, da, open_, 1)), scale)

    def obstacle(self) -> str:
        return "the weights are no softmax"


AnyNormalizer = Softmax | Sigmoid
"""The way from scores to weights as a recipe names it: ``"softmax"``, or ``{kind = "softmax", sharpness = 2.0}``."""
