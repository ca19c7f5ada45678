"""Forecast of a training's scores, by whole trainings on nested parts of its data (``anaphora check --trial 10m``).

A quarter, a half and all of the data are trained on for as many epochs each as the time allows, with the schedule of
the learning rate for so many. What is left to lose after n examples, y, is taken to follow a power law,

    y(n) = a + b n^-c,    (1)

where y is the logarithm of a loss or of the distance from a perfect score; a and b are fitted by least squares, since
three points leave no room for c. Where the epochs are fewer than those of a full training, the quarter is trained with
all of them too, and a part of its gain is added to y. The interval covers other exponents c and other parts of the
gain, the residuals of (1), and the drawing of the validation sentences.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from anaphora.data.corpora import PairCorpus, Splits, TextCorpus
from anaphora.errors import ConfigError
from anaphora.evaluation.segments import Better, Floats, SegmentMetric
from anaphora.evaluation.significance import bootstrap
from anaphora.events import Event, Progress, Report, Update, silent
from anaphora.experiment.estimate import SAMPLED, Estimate, sampled
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.evaluation import Comparable, Request
from anaphora.tasks.registry import task_of
from anaphora.wording import inflect

LEAST_SECONDS = 60.0
"""Time from which on a trial is a forecast."""
LEAST_EXAMPLES = 100
"""Examples that a forecast needs."""

_PARTS = (0.25, 0.5, 1.0)
_LEAST_EPOCHS = 0.25
"""Fraction of the epochs that a part is trained for; where the time does not suffice for it, parts are smaller."""
_SPARE = 0.9
"""Fraction of the time that the updates are to take."""
_EXPONENTS = (0.05, 0.4, 0.8)
"""The exponents c of equation (1): that of the expected value in the middle, those of the interval around it."""
_GAIN = 0.5
"""Part of the quarter's gain by more epochs that all of the data gains, give or take as much."""
_NEAREST = 1e-3
"""Distance from a perfect score, as a fraction, below which scores count as equal."""
_SHOWN = 2
"""Metrics of a forecast."""


class PartTraining(NamedTuple):
    """Scores of a training on a part of the data."""

    examples: int
    epochs: int
    metrics: Mapping[str, SegmentMetric]


class Expected(NamedTuple):
    """A score that is expected, and an interval that holds it in 95 of 100 forecasts, as far as three points tell."""

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
    examples: int
    """Of the training split."""
    epochs: int
    """Of a full training."""
    trainings: Sequence[PartTraining]
    full: Mapping[str, Expected]
    """By a full training, by metric."""
    double: Mapping[str, Expected]
    """By one on twice the data."""

    @property
    def doublings(self) -> tuple[int, int]:
        """The examples of the training split, and twice as many."""
        return self.examples, 2 * self.examples

    def __str__(self) -> str:
        full, double = (" and ".join(f"{n} {one}" for n, one in of.items()) for of in (self.full, self.double))
        return (
            f"A full training on {inflect(self.examples, self.unit)} is expected to reach {full} on the validation "
            f"split; one on twice as many, {double}"
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return the trainings and what they let expect, with a cell for each metric."""
        measured = [
            (
                f"{inflect(one.examples, self.unit)}, {inflect(one.epochs, 'epoch')}",
                *(_digits(one.metrics[name].value) for name in self.full),
            )
            for one in self.trainings
        ]
        full, double = ([str(one) for one in of.values()] for of in (self.full, self.double))
        whole = f"{inflect(self.examples, self.unit)}, {inflect(self.epochs, 'epoch')}, expected"
        return [*measured, (whole, *full), ("twice as many, expected", *double)]

    def json(self) -> dict[str, Any]:
        measured = [
            {"examples": one.examples, "epochs": one.epochs} | {name: one.metrics[name].value for name in self.full}
            for one in self.trainings
        ]
        full, double = ({n: one._asdict() for n, one in of.items()} for of in (self.full, self.double))
        return {"sentence": f"{self}.", "trainings": measured, "full": full, "double": double}


def forecast(
    experiment: Experiment, splits: Splits[Any], found: Estimate, seconds: float, report: Report = silent
) -> Forecast:
    """Train ``experiment`` on parts of ``splits`` for about ``seconds`` in all, by the speed that was ``found``.

    Raises ConfigError for too few examples and for a task without metrics, and what ``run_training.train`` raises.
    """
    train_split, epochs = splits.train, experiment.training.epochs
    pairs, text = isinstance(train_split, PairCorpus), isinstance(train_split, TextCorpus)
    unit = "pair" if pairs else "line" if text else "example"
    if train_split.count < LEAST_EXAMPLES:
        there = inflect(train_split.count, unit)
        raise ConfigError(f"{there} are too few, {LEAST_EXAMPLES} are needed.")
    share, made = _plan(train_split.count, epochs, found.seconds_of_epoch, _SPARE * seconds)
    plan = [(part, made) for part in _PARTS] + ([(_PARTS[0], epochs)] if made < epochs else [])
    trainings = [
        _train_part(experiment, splits, round(share * part * train_split.count), count, unit, report)
        for part, count in plan
    ]
    names = list(trainings[0].metrics)
    full, double = ({name: expect(trainings, name, times * train_split.count) for name in names} for times in (1, 2))
    return Forecast(unit, train_split.count, epochs, trainings, full, double)


def _plan(count: int, epochs: int, seconds_of_epoch: float, room: float) -> tuple[float, int]:
    """Return the fraction of ``count`` examples that is the largest part, and the epochs of each part.

    An epoch over all takes ``seconds_of_epoch``; all trainings together are to take ``room``, also in seconds.
    """
    share, whole, parts = min(1.0, SAMPLED / count), epochs * seconds_of_epoch, sum(_PARTS)
    if parts * whole * share <= room:
        return share, epochs
    share = min(share, room / whole / (_PARTS[0] + parts * _LEAST_EPOCHS))
    made = int(epochs * (room / (whole * share) - _PARTS[0]) / parts)
    return max(share, LEAST_EXAMPLES / count), max(1, min(epochs, made))


def _train_part(
    experiment: Experiment, splits: Splits[Any], examples: int, epochs: int, unit: str, report: Report
) -> PartTraining:
    """Train for so many epochs on so many examples, and score the best checkpoint on the validation split."""
    task = f"forecast: training on {inflect(examples, unit)}"

    def progress(event: Event) -> None:
        if isinstance(event, Update):
            done = (event.epoch - 1) * event.total + event.done
            report(Progress(task, done, event.epochs * event.total, "updates"))

    with sampled(experiment, splits, {"epochs": epochs}, examples) as (part, folder, (count, _)):
        train(part, folder / "run", progress)
        [scored] = task_of(part).evaluate([folder / "run"], Request(keep=False), silent).scored
        [scores] = scored.results.values()
    if not isinstance(scores, Comparable):
        raise ConfigError(f"{task_of(part).plural.capitalize()} have no scores.")
    metrics = dict[str, SegmentMetric]()
    for metric in scores.segment_metrics():
        metrics.setdefault(metric.name, metric)
    return PartTraining(count, epochs, dict(list(metrics.items())[:_SHOWN]))


def expect(trainings: Sequence[PartTraining], name: str, examples: float) -> Expected:
    """Return a metric that a full training on so many ``examples`` is expected to reach, by equation (1).

    The ``trainings`` are on parts of three sizes, with as many epochs; there may be one on the smallest with all.
    """
    metrics, parts = [one.metrics[name] for one in trainings], len(_PARTS)
    values_K = np.array([metric.value for metric in metrics])
    top = _top(values_K, [one.value for training in trainings for one in training.metrics.values()], metrics[0].better)
    sizes_K, y_K = np.array([float(one.examples) for one in trainings[:parts]]), _left(values_K, top)
    gain = _GAIN * min(0.0, y_K[-1] - y_K[0]) if len(trainings) > parts else 0.0
    found, residuals = list[float](), list[float]()
    for exponent in _EXPONENTS:
        x_K = (sizes_K / sizes_K[-1]) ** -exponent
        b = max(0.0, float(np.polyfit(x_K, y_K[:parts], 1)[0]))  # more data does no harm
        a = float(np.mean(y_K[:parts] - b * x_K))
        found.append(a + b * float((examples / sizes_K[-1]) ** -exponent) + gain)
        residuals.append(float(np.linalg.norm(y_K[:parts] - a - b * x_K)))
    largest = metrics[parts - 1]
    drawn = replace(largest, score=lambda sums_NK: _left(largest.score(sums_NK), top))
    around = float(np.linalg.norm([2 * bootstrap([drawn]).std(), 2 * residuals[1], gain]))
    value, *ends = (_score(y, top) for y in (found[1], min(found) - around, max(found) + around))
    return Expected(value, min(ends), max(ends))


def _top(values_K: Floats, others: Sequence[float], better: Better) -> float:
    """Return the perfect score; 0 where lower values are better, infinity where there is none."""
    if better == "lower":
        return 0.0
    if min(values_K) < 0 or max(values_K) > 100:
        return math.inf
    return 100.0 if max(others) > 1 else 1.0  # of 100, or a fraction


def _left(values: Floats, top: float) -> Floats:
    """Return y of scores: what is left to lose."""
    return -values if math.isinf(top) else np.log(np.maximum(np.abs(top - values), _NEAREST * max(top, 1.0)))


def _score(y: float, top: float) -> float:
    """Return the score of y."""
    return -y if math.isinf(top) else max(0.0, top - math.exp(y)) if top else math.exp(y)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
