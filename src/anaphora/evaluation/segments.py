"""Metrics that depend on sums of counts over the segments of a text alone, so that the text can be resampled.

A segment is what a text is made of: a sentence, a line, an example. BLEU, accuracy, F1, error rates and perplexity are
functions of sums over segments, each with counts of its own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Score = Callable[[Floats], Floats]
"""Function from sums of counts, N x K, to N values."""
Better = Literal["higher", "lower"]


@dataclass(frozen=True, eq=False)
class SegmentMetric:
    """One metric of one output of a system."""

    name: str
    counts_SK: Floats = field(repr=False)
    """Counts of every segment."""
    score: Score = field(repr=False)
    better: Better = "higher"
    conditions: str = ""
    """Settings that change its value; metrics of one name are compared only under the same conditions."""
    top: float = 1.0
    """Greatest value there may be where higher is better; values that are bounded begin at 0."""

    @property
    def value(self) -> float:
        """Value of the whole text."""
        return float(self.score(self.counts_SK.sum(0, keepdims=True))[0])


def counts(columns: Iterable[Any]) -> Floats:
    """Columns of S numbers each as S x K counts."""
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def fraction(sums_NK: Floats) -> Floats:
    """Return the first sum over the second; 0 where that is 0."""
    found: Floats = np.divide(
        sums_NK[:, 0], sums_NK[:, 1], out=np.zeros(len(sums_NK)), where=np.not_equal(sums_NK[:, 1], 0)
    )
    return found


def f1(sums_NK: Floats) -> Floats:
    """F1 of counts of predicted, expected and right items; 0 without any."""
    return fraction(np.stack([2 * sums_NK[:, 2], sums_NK[:, 0] + sums_NK[:, 1]], axis=1))


def macro_f1(sums_NK: Floats) -> Floats:
    """Mean F1 of the classes that are expected or predicted; K is predicted, expected and right of each in turn."""
    by_class_NC3 = sums_NK.reshape(len(sums_NK), -1, 3)
    f1_NC = f1(by_class_NC3.reshape(-1, 3)).reshape(by_class_NC3.shape[:2])
    seen_NC = by_class_NC3[..., :2].sum(-1) > 0
    mean: Floats = f1_NC.sum(1) / np.maximum(1, seen_NC.sum(1))
    return mean
