"""Effective context of a language model: its loss with the context cut to k tokens, and shuffled beyond k.

Khandelwal, He, Qi and Jurafsky (2018), "Sharp Nearby, Fuzzy Far Away", section 3: the effective context is the least k
whose loss is within 1% of that with the whole context.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch, pad
from anaphora.errors import DataError
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.evaluation.significance import SAMPLES, SEED, bootstrap_difference
from anaphora.events import Progress, Report, silent
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject
from anaphora.kernels.runtime import running
from anaphora.nn.randomness import generator
from anaphora.prediction.examples import GivesExamples
from anaphora.protocols import Carry
from anaphora.wording import inflect

LONGEST = 512
"""Tokens of the whole context."""
POSITIONS = 100
"""Tokens that are predicted, spread evenly over the text."""
WITHIN = 0.01


@dataclass(frozen=True)
class EffectiveContext(Result):
    """The loss of one model on one text by how much context it has."""

    run: str
    predicted: int
    """Tokens."""
    longest: int
    """Tokens of the whole context."""
    whole: float
    """Nats a token with the whole context."""
    sizes: tuple[int, ...]
    """k, ascending."""
    cut: tuple[float, ...]
    """Nats a token with the last k tokens alone."""
    shuffled: tuple[float, ...]
    """Nats a token with the last k tokens, and those before them in random order."""
    intervals: tuple[tuple[tuple[float, float], ...], ...]
    """Bounds for each of ``cut``, and of ``shuffled``, of the difference from ``whole`` in 95 of 100 draws."""

    @property
    def effective(self) -> int | None:
        """The least k whose loss is within 1% of that with the whole context; None where no k is."""
        return next(
            (k for k, loss in zip(self.sizes, self.cut, strict=True) if loss <= self.whole * (1 + WITHIN)), None
        )

    def json(self) -> dict[str, Any]:
        return super().json() | {"effective": self.effective}

    def lines(self) -> Iterator[str]:
        of_whole = f"loss {self.whole:.4f}, perplexity {exp(self.whole):.2f}"
        read = f"whole context, {inflect(self.longest, 'token')}"
        yield f"{self.run}: {inflect(self.predicted, 'prediction')}; {read}: {of_whole}"
        yield f"  {'k':>5}{'cut to k':>12}{'shuffled beyond k':>20}"
        for k, cut, shuffled in zip(self.sizes, self.cut, self.shuffled, strict=True):
            yield f"  {k:>5}{cut:>12.4f}{shuffled:>20.4f}"
        found = "longer than all of these" if self.effective is None else inflect(self.effective, "token")
        yield f"  effective context, within {WITHIN:.0%} of the whole: {found}"


def lacks_context(subject: Subject) -> str:
    """Return the reason that a run has no context to measure; empty where it has."""
    if not hasattr(subject.trained.model, "carry_after") or not isinstance(subject.predictor, GivesExamples):
        return "it is no language model of tokens"
    reads = getattr(subject.trained.experiment, "reads", "stream")
    return "it reads every line by itself" if reads == "sentences" else ""


def effective_context(
    subject: Subject, text: str, longest: int = LONGEST, positions: int = POSITIONS, report: Report = silent
) -> EffectiveContext:
    """Return the loss of a language model of running text with less and less context, at k = 1, 2, 4, .. ``longest``.

    Raises ConfigError for another model, DataError for a text of no more than ``longest`` tokens.
    """
    subject.demand("has no context to measure", lacks_context(subject))
    ids: list[int] = subject.predictor.example(text).batch.target_ids.ids_BT[0].tolist()
    if len(ids) <= longest + positions:
        raise DataError(
            f"The context of {inflect(positions, 'prediction')} takes more than "
            f"{inflect(longest + positions, 'token')}, but the text has {len(ids):,}: give a longer one."
        )
    ends = [longest + (len(ids) - 1 - longest) * n // (positions - 1) for n in range(positions)]
    sizes = [2**n for n in range(longest.bit_length()) if 2**n < longest]
    contexts = [ids[end - longest : end] for end in ends]
    targets = [ids[end] for end in ends]
    cut, shuffled = list[SegmentMetric](), list[SegmentMetric]()
    for number, size in enumerate(sizes):
        report(Progress("contexts", number, len(sizes), "sizes"))
        cut.append(_loss(subject, [row[-size:] for row in contexts], targets))
        source = generator(1, f"context {size}")
        orders = (torch.randperm(longest - size, generator=source).tolist() for _ in contexts)
        mixed = [[*(row[place] for place in order), *row[-size:]] for row, order in zip(contexts, orders, strict=True)]
        shuffled.append(_loss(subject, mixed, targets))
    whole = _loss(subject, contexts, targets)
    losses = [tuple(one.value for one in curve) for curve in (cut, shuffled)]
    intervals = tuple(tuple(_interval(whole, one) for one in curve) for curve in (cut, shuffled))
    return EffectiveContext(
        subject.name, len(targets), longest, whole.value, tuple(sizes), losses[0], losses[1], intervals
    )


def _interval(whole: SegmentMetric, loss: SegmentMetric) -> tuple[float, float]:
    low, high = bootstrap_difference([whole], [loss], SAMPLES, SEED).interval
    return whole.value + low, whole.value + high


def _loss(subject: Subject, contexts: Sequence[Sequence[int]], targets: Sequence[int]) -> SegmentMetric:
    """Return nats of each target after its context; only the last state of each is turned into a prediction."""
    model: Any = subject.trained.model.eval()
    count = len(targets)
    rows, carried = np.arange(count), np.zeros(count, bool)
    carry: Carry | None = None
    with running(subject.trained.runtime):
        if len(contexts[0]) > 1:
            before = [row[:-1] for row in contexts]
            carry = model.carry_after(Batch(pad(before), pad(before), rows, carried))
            carried = ~carried
        last = Batch(pad([row[-1:] for row in contexts]), pad([[one] for one in targets]), rows, carried)
        log_probs_BT, _ = model.target_log_probs(last, carry)
    nats_N = -np.asarray(log_probs_BT, dtype=np.float64).ravel()
    return SegmentMetric("loss", counts([nats_N, np.ones(count)]), fraction, "lower")
