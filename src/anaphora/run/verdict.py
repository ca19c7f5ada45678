"""Verdict on a training, from its log: still improving, flat, or overfitting, and what to try next."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anaphora.run.logs import numbers_in

Trend = Literal["improving", "flat", "overfitting"]

MIN_VALIDATIONS = 4
"""Validations below which a curve has no trend."""

CHANGE = 0.01
"""Fraction by which a metric must change over the last third of the validations to count as changed."""


@dataclass(frozen=True)
class Verdict:
    """Trend of a training."""

    trend: Trend
    text: str
    """Sentences for people: what the curves show, and what to try next."""

    def __str__(self) -> str:
        return self.text


def verdict(lines: Iterable[Mapping[str, Any]], metric: str) -> Verdict | None:
    """Return the verdict on the lines of a ``metrics.jsonl``; None where there are too few validations to see a trend.

    The curve is that of ``metric``, which decides which checkpoint is the best. The last third of the validations is
    compared with those before. A run overfits if its validation loss rose over that time while its training loss fell.
    """
    training, validations = list[tuple[int, float]](), list[tuple[int, dict[str, float]]]()
    bests = list[tuple[int, float]]()
    for line in lines:
        if metric in (figures := numbers_in(line.get("validation"))):
            validations.append((line["update"], figures))
            bests += [(line["update"], figures[metric])] if line.get("best") else []
        elif "loss" in line:
            training.append((line["update"], line["loss"]))
    count = len(validations)
    if not bests or count < MIN_VALIDATIONS:
        return None
    last = max(2, count // 3)
    begin, end = validations[-last - 1][0], validations[-1][0]
    best_update, best = bests[-1]
    if metric not in ("loss", "perplexity") and (best in (1, 100) or (best == 0 and bests[0][1] > 0)):
        return Verdict("flat", f"Nothing is left to improve: {metric} is {best:g} on the validation split.")
    then = next((value for update, value in reversed(bests) if update <= begin), best)
    since = f"over the last {last} of {count} validations"
    if abs(_change(then, best)) >= CHANGE:
        seen = f"Still improving: {metric} became {_shown(then, best)} better {since}."
        return Verdict("improving", f"{seen} Training longer should help: raise training.epochs or --time.")
    losses = [figures["loss"] for _, figures in validations if "loss" in figures]
    before = _mean(loss for update, loss in training if 2 * begin - end < update <= begin)
    after = _mean(loss for update, loss in training if begin < update <= end)
    risen, fallen = (_change(min(losses), losses[-1]) if losses else 0.0), -_change(before, after)
    if risen >= 2 * CHANGE and fallen >= CHANGE:
        above, by = _shown(min(losses), losses[-1]), _shown(before, after)
        seen = f"Overfitting: validation loss is {above} above its best, while training loss fell by {by}"
        advice = "The best checkpoint is kept; more data, more dropout or a smaller model should help."
        return Verdict("overfitting", f"{seen} {since}. {advice}")
    seen = f"Flat: {metric} has not improved by {CHANGE:.0%} {since}; the best is of update {best_update:,}."
    if losses and _change(losses[-1], after) < -0.2:
        gap = f"Training loss is {_shown(losses[-1], after)} below validation loss"
        return Verdict("flat", f"{seen} {gap}: more data or more dropout should help.")
    return Verdict("flat", f"{seen} Training loss is nearly as high: a larger model may learn more.")


def _change(before: float, after: float) -> float:
    """Return the relative change; of a loss that is 0 or less, as of densities, the change itself, in nats.

    0 where it has no meaning.
    """
    if not (math.isfinite(before) and math.isfinite(after)):
        return 0.0
    return (after - before) / before if min(before, after) > 0 else after - before


def _shown(before: float, after: float) -> str:
    """Return the size of a change for people, as ``_change`` has it."""
    size = abs(_change(before, after))
    return f"{size:.1%}" if min(before, after) > 0 else f"{size:.3g}"


def _mean(values: Iterable[float]) -> float:
    """Return the mean; nan of nothing."""
    every = list(values)
    return sum(every) / len(every) if every else math.nan
