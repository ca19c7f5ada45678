"""Attention as parts of a step: scores over the positions of a sentence, their weights, and the sum of its values.

What is carried from step to step are signals like any other (``previous``): the weights themselves, their sum so far,
the number of the step. So a score or a span that looks back brings its loop with it, and one that does not leaves
attention to all steps at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple

from anaphora.kernels.normalizers import Normalizer
from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import OneToOne, Part
from anaphora.kernels.scores import Score
from anaphora.kernels.spans import Focus, Span


class SavedAttention(NamedTuple, Generic[V]):
    """Values saved for the backward pass."""

    focus: Focus[V]
    of_score: Any
    of_span: Any
    of_normalizer: Any
    b: V
    """Normalized scores, before the factor of the span."""


@dataclass(frozen=True)
class Attend(Part):
    """Attention over the positions of a sentence.

        1  e_s = score(query, position s) * scale        -inf where the span is closed, and past the end
        2  b   = softmax(e)                               or another normalizer
        3  a_s = g_s b_s                                  g is the factor of the span, if it has one
        4  c   = sum_s a_s value_s

    Memory tensors: what the score prepares, ``<name>.values`` (B x S x M), ``<name>.closed`` (B x S, true past the
    end) and ``<name>.length`` (B x 1, the open positions). It writes ``target``, the context, and ``weights``.
    """

    score: Score
    span: Span
    normalizer: Normalizer
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

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], SavedAttention[V]]:
        """Steps 1 to 4."""
        query, *beside = inputs
        to_score = len(self.score.beside)
        focus, of_span = self.span.forward(ops, query, beside[to_score:])
        e, of_score = self.score.forward(ops, query, beside[:to_score], focus.open)  # 1
        b, of_normalizer = self.normalizer.forward(ops, e, focus.open, self.scale)  # 2
        a = b if focus.factor is None else ops.mul(b, focus.factor)  # 3
        context = ops.mix("values", a, focus.open)  # 4
        return (context, a), SavedAttention(focus, of_score, of_span, of_normalizer, b)

    def inside(self, saved: SavedAttention[Any]) -> dict[str, Any]:
        """Return the centre of its window (X x B x 1), where it has one."""
        return {} if saved.of_span is None else {"centre": self.span.centre(saved.of_span)}

    def backward(self, ops: Ops[V], saved: SavedAttention[V], doutputs: Sequence[V | None]) -> Sequence[V | None]:
        """Steps 4 to 1 undone; the weights may have a gradient of their own."""
        (open_, g), of_score, of_span, of_normalizer, b = saved
        dcontext, dweights = doutputs
        through_context = None if dcontext is None else ops.mix_back("values", dcontext, open_)  # 4
        da = ops.sum([d for d in (through_context, dweights) if d is not None])
        db = da if g is None else ops.mul(da, g)  # 3
        de = self.normalizer.backward(ops, of_normalizer, b, db, open_, self.scale)  # 2
        dquery, *dbeside = self.score.backward(ops, of_score, de, open_)  # 1
        if g is None:
            return (dquery, *dbeside, *(None for _ in self.span.beside))
        through_span, *dspan = self.span.backward(ops, of_span, ops.mul(da, b), open_)
        return (ops.sum((dquery, through_span)), *dbeside, *dspan)

    def obstacle(self) -> str:
        """Obstacle of score, span or normalizer."""
        return self.score.obstacle() or self.span.obstacle() or self.normalizer.obstacle()


@dataclass(frozen=True)
class ScorePositions(OneToOne):
    """Scores of the positions of a sentence for a query, and nothing else: step 1 of ``Attend`` before it is scaled.

    Those past the end are of no consequence.
    """

    score: Score

    by_sentence: ClassVar[bool] = True

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        e, saved = self.score.forward(ops, inputs[0], [], ops.whole())
        return [e], saved

    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[V | None]:
        return self.score.backward(ops, saved, doutputs[0], ops.whole())

    def obstacle(self) -> str:
        return self.score.obstacle()
