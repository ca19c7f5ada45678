"""Is one system better than another, or was it luck? Two tests for any ``SegmentMetric``, of any number of runs.

A system is one run, or several that differ only in their seed; its score is the mean over its runs.

- Paired bootstrap (Koehn 2004): segments are drawn with replacement, the same for all systems.
  Applied to BLEU or chrF of two translators by ``paired_bootstrap``.
- Approximate randomisation (Noreen 1989; Riezler and Maxwell 2005): if systems did not differ, their outputs for a
  segment could change places, so they are shuffled, segment by segment.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anaphora.evaluation.segments import Floats, SegmentMetric
from anaphora.formats.json_text import Jsonable

SAMPLES = 1000
SEED = 12345
_CELLS = 1 << 22
"""Draws times segments times runs that are held at once, which bounds memory."""

System = Sequence[SegmentMetric]
"""A metric of every run of a system."""


@dataclass(frozen=True)
class Contrast(Jsonable):
    """Difference between two systems by one metric."""

    difference: float
    """Score of the one minus that of the other."""
    interval: tuple[float, float]
    """Holds the difference in 95 of 100 bootstrap draws."""
    bootstrap_p: float
    randomisation_p: float
    """Probability of a difference as large in either direction by chance, by both tests."""


class BootstrapDifference(NamedTuple):
    """A difference between two systems over bootstrap draws."""

    difference: float
    mean: float
    """Over all draws."""
    interval: tuple[float, float]
    """Holds the difference in 95 of 100 draws."""
    p_value: float


def contrast(first: System, second: System, samples: int = SAMPLES, seed: int = SEED) -> Contrast:
    """Compare ``second`` with ``first``; every run of both has the same S > 0 segments."""
    drawn = bootstrap_difference(first, second, samples, seed)
    randomisation_p = p_value(_randomise(first, second, samples, seed), drawn.difference)
    return Contrast(drawn.difference, drawn.interval, drawn.p_value, randomisation_p)


def bootstrap_difference(first: System, second: System, samples: int, seed: int) -> BootstrapDifference:
    """Return the paired bootstrap of ``second`` minus ``first``."""
    real = _mean([run.value for run in second]) - _mean([run.value for run in first])
    drawn_N = bootstrap(second, samples, seed) - bootstrap(first, samples, seed)
    mean = float(drawn_N.mean())
    return BootstrapDifference(real, mean, interval(drawn_N), p_value(drawn_N - mean, real))


def interval(drawn_N: Floats) -> tuple[float, float]:
    """Return what holds 95 of 100 draws."""
    low, high = np.percentile(drawn_N, (2.5, 97.5))
    return float(low), float(high)


def p_value(by_chance_N: Floats, real: float) -> float:
    """Return the fraction of differences by chance that are as far from none as the real one, that one counted too."""
    # sums in another order may differ in the last bit
    as_far = np.abs(by_chance_N) >= abs(real) * (1 - 1e-9)
    return float(as_far.sum() + 1) / (len(by_chance_N) + 1)


def bootstrap(system: System, samples: int = SAMPLES, seed: int = SEED) -> Floats:
    """N scores of a system, each on as many segments as there are, drawn with replacement; the seed decides which."""
    segments = len(system[0].counts_SK)
    draws, found = np.random.default_rng(seed), []
    for size in _blocks(samples, segments):
        drawn_NS = draws.integers(segments, size=(size, segments))
        times_NS = np.stack([np.bincount(drawn_S, minlength=segments) for drawn_S in drawn_NS]).astype(np.float64)
        found.append(_mean([run.score(times_NS @ run.counts_SK) for run in system]))
    return np.concatenate(found)


def _randomise(first: System, second: System, samples: int, seed: int) -> Floats:
    """N differences between two systems after the outputs of all their runs were shuffled, segment by segment."""
    runs = [*first, *second]
    segments, places = len(runs[0].counts_SK), range(len(runs))
    draws, found = np.random.default_rng(seed), []
    for size in _blocks(samples, segments * len(runs)):
        taken_NSR = draws.random((size, segments, len(runs))).argsort(axis=-1)
        scores = []
        for place, run in enumerate(runs):
            sums_NK = sum((taken_NSR[..., place] == other) @ runs[other].counts_SK for other in places)
            scores.append(run.score(np.asarray(sums_NK)))
        found.append(_mean(scores[len(first) :]) - _mean(scores[: len(first)]))
    return np.concatenate(found)


def holm(p_values: Sequence[float]) -> list[float]:
    """p values adjusted for being several (Holm 1979): the chance of any false one among them stays at its level."""
    order, adjusted, highest = sorted(range(len(p_values)), key=lambda at: p_values[at]), [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, p_values[at] * (len(p_values) - rank)))
        adjusted[at] = highest
    return adjusted


def _blocks(samples: int, cells: int) -> Iterator[int]:
    """``samples`` in parts, each of which fits memory with so many cells a sample."""
    block = max(1, _CELLS // cells)
    for start in range(0, samples, block):
        yield min(block, samples - start)


def _mean(scores: Sequence[Any]) -> Any:
    return sum(scores) / len(scores)


@dataclass(frozen=True)
class Comparison(Jsonable):
    """Two translators on the same sentences, by one metric."""

    name: str
    condition: str
    signature: str
    first: float
    second: float
    """Score of 100, as ``first``."""
    mean_difference: float
    """Second minus first, over all draws."""
    interval: tuple[float, float]
    """Holds the difference in 95 of 100 draws."""
    p_value: float
    """Probability of a difference as large by chance, in either direction."""
    sentences: int
    samples: int
    seed: int

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.name}: {self.first:.2f} against {self.second:.2f}, difference {self.second - self.first:+.2f} "
            f"(95%: {low:+.2f} to {high:+.2f}), p = {self.p_value:.4f} ({self.condition}; {self.signature}; "
            f"paired bootstrap, n = {self.samples:,}, seed {self.seed})"
        )


def paired_bootstrap(
    first: SegmentMetric, second: SegmentMetric, samples: int = SAMPLES, seed: int = SEED
) -> Comparison:
    """Compare two translators by a metric of their outputs for the same sentences.

    The p value is the fraction of draws whose difference is as far from the mean of all draws as the real difference is
    from none, in either direction, the real one counted too. sacreBLEU's own test takes differences without their
    signs and finds smaller ones.
    """
    drawn = bootstrap_difference([first], [second], samples, seed)
    condition, _, signature = first.conditions.partition("; ")
    return Comparison(
        name=first.name,
        condition=condition,
        signature=signature,
        first=first.value,
        second=second.value,
        mean_difference=drawn.mean,
        interval=drawn.interval,
        p_value=drawn.p_value,
        sentences=len(first.counts_SK),
        samples=samples,
        seed=seed,
    )
