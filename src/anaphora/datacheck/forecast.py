"""Scores that a training is expected to reach, by those of whole trainings on nested subsets of its data.

All subsets are trained on for as many epochs as all of the data would be, so each score is that of a full training on
less data. What is left to lose after n examples, y, is taken to follow a power law,

    y(n) = a + b (n^-c - 1) / c,    (1)

where y is a score turned so that less is better, or the logarithm of a loss; a and b are fitted by least squares, since
three points leave no room for c. As c nears 0 it becomes a straight line in log n, which scores on little data follow;
with c below 0 they grow still faster. The interval covers other exponents c, the standard error of (1), and the drawing
of the validation examples.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anaphora.evaluation.segments import Floats, SegmentMetric
from anaphora.evaluation.significance import bootstrap
from anaphora.wording import inflect

SUBSETS = (0.25, 0.5, 1.0)
"""Sizes of the subsets, as fractions of the largest."""

_EXPONENTS = (-0.3, 0.05, 0.8)
"""The exponents c of equation (1): that of the expected value in the middle, those of the interval around it."""
_LEAST = 1e-9
"""Value below which losses count as equal."""


class SubsetTraining(NamedTuple):
    """Scores of a training on a subset of the data."""

    examples: int
    metrics: Mapping[str, SegmentMetric]


class Expected(NamedTuple):
    """A score that is expected, and the ends of an interval around it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_digits(self.value)} ({_digits(self.low)} to {_digits(self.high)})"


@dataclass(frozen=True)
class Forecast:
    """Scores on the validation split that a training is expected to reach."""

    unit: str
    """Noun of an example."""
    trainings: Sequence[SubsetTraining]
    expected: Mapping[int, Mapping[str, Expected]]
    """Scores by metric, on as many examples as the training split has and on twice as many."""

    def __str__(self) -> str:
        full, double = (" and ".join(f"{n} {one}" for n, one in of.items()) for of in self.expected.values())
        return (
            f"A full training on {inflect(min(self.expected), self.unit)} is expected to reach {full} on the "
            f"validation split; one on twice as many, {double}"
        )

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the trainings and what they let expect, with a cell for each metric."""
        for one in self.trainings:
            scores = (_digits(metric.value) for metric in one.metrics.values())
            yield inflect(one.examples, self.unit), *scores
        for count, of in self.expected.items():
            yield f"{inflect(count, self.unit)}: expected", *map(str, of.values())

    def json(self) -> dict[str, Any]:
        trainings = [
            {"examples": n} | {name: metric.value for name, metric in metrics.items()} for n, metrics in self.trainings
        ]
        expected = [
            {"examples": n} | {name: one._asdict() for name, one in of.items()} for n, of in self.expected.items()
        ]
        return {"sentence": f"{self}.", "trainings": trainings, "expected": expected}


def expect(trainings: Sequence[SubsetTraining], name: str, examples: float) -> Expected:
    """Return a metric that a full training on so many ``examples`` is expected to reach, by equation (1).

    The ``trainings`` are on subsets of growing size.
    """
    metrics = [one.metrics[name] for one in trainings]
    sizes_K = np.array([float(one.examples) for one in trainings])
    y_K = np.array([float(_loss_of(metric, np.array(metric.value))) for metric in metrics])
    found, errors = list[float](), list[float]()
    for exponent in _EXPONENTS:
        x_K, x = (((sizes / sizes_K[-1]) ** -exponent - 1) / exponent for sizes in (sizes_K, np.array(examples)))
        b = max(0.0, float(np.polyfit(x_K, y_K, 1)[0]))  # more data does no harm
        a = float(np.mean(y_K - b * x_K))
        found.append(a + b * float(x))
        leverage = (1 + (float(x) - x_K.mean()) ** 2 / x_K.var()) / len(x_K)
        errors.append(float(np.linalg.norm(y_K - a - b * x_K)) * math.sqrt(leverage))
    deviation = _loss_of(metrics[0], bootstrap([metrics[-1]])).std()
    around = float(np.linalg.norm([2 * deviation, 2 * errors[1]]))
    ends = (found[1], min(found) - around, max(found) + around)
    if metrics[0].better == "lower":
        return Expected(*map(math.exp, ends))
    top = metrics[0].top
    value, high, low = np.clip(np.negative(ends), 0.0 if math.isfinite(top) else -math.inf, top) + 0.0  # no -0
    return Expected(float(value), float(low), float(high))


def _loss_of(metric: SegmentMetric, values: Floats) -> Floats:
    """Return y of values of a metric: logarithms where lower is better, and negative values otherwise."""
    return np.log(np.maximum(values, _LEAST)) if metric.better == "lower" else -values


def _digits(value: float) -> str:
    """Return a score in as many digits as mean something."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if abs(value) > 1 else f"{value:.3f}"
