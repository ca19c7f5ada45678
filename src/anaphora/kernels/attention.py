"""Attention as parts of a step: scores over the positions of a sentence, their weights, and the sum of its values.

What is carried from step to step are signals like any other (``previous``): the weights themselves, their sum so far,
the number of the step. So a score or a span that looks back brings its loop with it, and one that does not leaves
attention to all steps at once.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.scores import Score
from anaphora.kernels.spans import Span
from anaphora.kernels.spans.span import LoweredFocus
from anaphora.kernels.weighing import Softmax, Weighing


class Attended(NamedTuple):
    """Values saved for the backward pass."""

    of_score: Any
    of_span: Any
    of_weighing: Any
    shares_XBS: Tensor
    """Normalized scores, before the factor of the span."""
    factor_XBS: Tensor | None


class Lowered(NamedTuple):
    """Values saved for the backward pass, of lists of operations."""

    focus: LoweredFocus
    of_score: Any
    of_span: Any
    weights: Value
    """Normalized scores, before the factor of the span."""


@dataclass(frozen=True)
class Attend:
    """Attention over the positions of a sentence.

        1  e_s = score(query, position s) * scale        -inf where the span is closed, and past the end
        2  b   = softmax(e)                               or another weighing
        3  a_s = g_s b_s                                  g is the factor of the span, if it has one
        4  c   = sum_s a_s value_s

    Memory tensors: what the score prepares, ``<name>.values`` (B x S x M), ``<name>.closed`` (B x S, true past the
    end) and ``<name>.length`` (B x 1, the open positions). It writes ``target``, the context, and ``weights``.
    """

    name: str
    score: Score
    span: Span
    weighing: Weighing
    scale: float
    query: str
    target: str = "context"

    by_sentence: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        """The query, and what score and span read beside it."""
        return (self.query, *self.score.beside, *self.span.beside)

    @property
    def writes(self) -> tuple[str, ...]:
        """The context and the weights."""
        return (self.target, "weights")

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Attended]:
        """Steps 1 to 4."""
        matmul = matmuls.of(self.name)
        query_XBQ, *beside = inputs
        to_score = len(self.score.beside)
        (closed_XBS, g_XBS), of_span = self.span.forward(query_XBQ, tuple(beside[to_score:]), matmul)
        e_XBS, of_score = self.score.forward(query_XBQ, tuple(beside[:to_score]), matmul)
        e_XBS = (e_XBS * self.scale).masked_fill(closed_XBS, -torch.inf)  # 1
        b_XBS, of_weighing = self.weighing.forward(e_XBS)  # 2
        a_XBS = b_XBS if g_XBS is None else b_XBS * g_XBS  # 3
        saved = Attended(of_score, of_span, of_weighing, b_XBS, g_XBS)
        return (matmul.attend("values", a_XBS), a_XBS), saved  # 4

    def inside(self, saved: Attended) -> dict[str, Tensor]:
        """The centre of its window (X x B x 1), where it has one: see ``observer.Opened``."""
        return {} if saved.of_span is None else {"centre": self.span.centre(saved.of_span)}

    def backward(self, matmuls: Matmuls, saved: Attended, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """Steps 4 to 1 undone; the weights may have a gradient of their own."""
        matmul = matmuls.of(self.name)
        of_score, of_span, of_weighing, b_XBS, g_XBS = saved
        da_XBS = matmul.attend_back("values", doutputs[0]) + doutputs[1]  # 4
        db_XBS = da_XBS if g_XBS is None else da_XBS * g_XBS  # 3
        de_XBS = self.weighing.backward(of_weighing, b_XBS, db_XBS)  # 2
        dquery_XBQ, *dbeside = self.score.backward(of_score, de_XBS * self.scale, matmul)  # 1
        if g_XBS is None:
            return (dquery_XBQ, *dbeside, *(None for _ in self.span.beside))
        through_span_XBQ, *dspan = self.span.backward(of_span, da_XBS * b_XBS, matmul)
        return (dquery_XBQ + through_span_XBQ, *dbeside, *dspan)

    def obstacle(self) -> str:
        """That of score, span or weighing."""
        return self.score.obstacle() or self.span.obstacle() or self.weighing.obstacle()

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Lowered]:
        """Steps 1 to 4."""
        attend, (query, *beside) = ops.of(self.name), inputs
        focus, of_span = self.span.lower(query, tuple(beside[len(self.score.beside) :]), attend)
        e, of_score = self.score.lower(query, tuple(beside[: len(self.score.beside)]), focus.window, attend)  # 1
        b = attend.value(e.width)
        attend.run("softmax_positions", (b,), (e, focus.window, self._scale(ops)))  # 2
        a = b
        if focus.factor:
            a = attend.value(e.width)
            attend.run("multiply_rows", (a,), (b, focus.factor))  # 3
        return (attend.mix("values", a, focus.window), a), Lowered(focus, of_score, of_span, b)  # 4

    def lower_back(self, ops: Lowering, saved: Lowered, doutputs: tuple[Value | None, ...]) -> tuple[Value | None, ...]:
        """Steps 4 to 1 undone."""
        attend, b = ops.of(self.name), saved.weights
        window, g = saved.focus
        through_context = attend.mix_back("values", doutputs[0], window) if doutputs[0] else None  # 4
        da = db = ops.sum([d for d in (through_context, doutputs[1]) if d])
        if g:
            db = attend.value(b.width)
            attend.run("multiply_rows", (db,), (da, g))  # 3
        de = attend.value(b.width)
        attend.run("softmax_positions_back", (de,), (b, db, window, self._scale(ops)))  # 2
        dquery, *dbeside = self.score.lower_back(saved.of_score, de, window, attend)  # 1
        if not g:
            return (dquery, *dbeside, *(None for _ in self.span.beside))
        dfactor = attend.value(b.width)
        attend.run("multiply_rows", (dfactor,), (da, b))
        through_span, *dspan = self.span.lower_back(saved.of_span, dfactor, window, attend)
        return (ops.sum((dquery, through_span)), *dbeside, *dspan)

    def _scale(self, ops: Lowering) -> Value:
        assert isinstance(self.weighing, Softmax)
        return ops.number(self.scale * self.weighing.sharpness)
