"""Distributions of lengths and their ratios; memory grows with the number of different values, not of lines."""

import math
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from itertools import pairwise
from typing import Any

import numpy as np

from anaphora.data.filters import RATIO_FACTOR
from anaphora.datacheck.findings import SHOWN, Place, Tally
from anaphora.wording import inflect

_BINS = 12
_FINE = 100
"""Steps per unit of the logarithm of a ratio."""
_RATIO_EDGES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)

_BLOCK, _REACH, _GAIN = 100, 3, 0.4
"""Lines compared together, lines that a side may have moved, and the gain in correlation by moving it back."""

Floats = np.ndarray[Any, np.dtype[np.float64]]

_Extreme = tuple[float, int, Place, tuple[int, ...]]


@dataclass(frozen=True)
class Histogram:
    """Counts by bin, one series or several over the same bins."""

    title: str
    unit: str
    """The unit of the labels."""
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]
    """Name and counts of each."""

    def json(self) -> dict[str, Any]:
        return vars(self) | {"labels": list(self.labels), "series": {name: list(n) for name, n in self.series}}


class Distribution:
    """Counts of a quantity by its value, with the places of its extremes."""

    def __init__(self, shown: str, scale: int = 1) -> None:
        """``shown`` formats the numbers of an extreme; values are counted in steps of 1 / ``scale``."""
        self.counts: Counter[int] = Counter()
        self._shown, self._scale = shown, scale
        self._seen = 0
        self._highest: list[_Extreme] = []
        self._lowest: list[_Extreme] = []

    def add(self, value: float, place: Place, *numbers: int) -> None:
        """Count a value; of equal extremes the first ones are kept."""
        self.counts[math.floor(value * self._scale)] += 1
        self._seen += 1
        for heap, measure in ((self._highest, value), (self._lowest, -value)):
            extreme = (measure, -self._seen, place, numbers)
            (heappush if len(heap) < SHOWN else heappushpop)(heap, extreme)

    def quantile(self, fraction: float) -> int:
        """Return the least step that ``fraction`` of the values do not exceed; 0 without values."""
        wanted, seen = fraction * self.counts.total(), 0
        for step in sorted(self.counts):
            seen += self.counts[step]
            if seen >= wanted:
                return step
        return 0

    def outside(self, low: float, high: float) -> Tally:
        """Return the values below ``low`` or above ``high``, the most extreme places first."""
        count = sum(n for step, n in self.counts.items() if step / self._scale > high or (step + 1) / self._scale < low)
        highest, lowest = (
            [place._replace(shown=self._shown.format(*numbers)) for m, _, place, numbers in ordered if m > bound]
            for ordered, bound in (
                (sorted(self._highest, reverse=True), high),
                (sorted(self._lowest, reverse=True), -low),
            )
        )
        places = [*highest[: max(SHOWN // 2, SHOWN - len(lowest))], *lowest][:SHOWN]
        return Tally(max(count, len(places)), places)

    def bin(self, edges: Sequence[int]) -> tuple[int, ...]:
        """Counts below the first edge, from each edge to the next, and from the last one."""
        counts = [0] * (len(edges) + 1)
        for step, n in self.counts.items():
            counts[bisect(edges, step)] += n
        return tuple(counts)


class Ratios(Distribution):
    """Logarithms of the length of a target over that of its source."""

    def __init__(self) -> None:
        super().__init__("{:,} to {:,} characters", _FINE)

    def unusual(self) -> Tally:
        median, reach = self.quantile(0.5) / _FINE, math.log(RATIO_FACTOR)
        return self.outside(median - reach, median + reach)

    def histogram(self) -> Histogram:
        counts = self.bin([math.floor(math.log(edge) * _FINE) for edge in _RATIO_EDGES])
        between = [f"{low:g} to {high:g}" for low, high in pairwise(_RATIO_EDGES)]
        labels = (f"under {_RATIO_EDGES[0]:g}", *between, f"{_RATIO_EDGES[-1]:g} and more")
        return Histogram("Length ratios", "target / source", labels, (("pairs", counts),))


class Shifts:
    """Lines whose sides belong to neighbouring lines, by how the lengths of the two sides go together.

    Lines are compared in blocks; in one that is shifted, the logarithms of lengths (by which Gale and Church 1993
    align) correlate better where one side is moved by a few lines.
    """

    def __init__(self) -> None:
        self.tally = Tally()
        self._block: list[tuple[Place, float, float]] = []

    def add(self, place: Place, source: int, target: int) -> None:
        """Add a pair whose sides have so many characters."""
        self._block.append((place, math.log(source), math.log(target)))
        if len(self._block) == _BLOCK:
            self._compare()
            self._block.clear()

    def _compare(self) -> None:
        places, *lengths = zip(*self._block, strict=True)
        source_N, target_N = np.array(lengths)
        moved = {lines: _correlation(source_N, target_N, lines) for lines in range(-_REACH, _REACH + 1)}
        best = max(moved, key=moved.__getitem__)
        if moved[best] - moved[0] >= _GAIN:
            where = "later" if best > 0 else "earlier"
            self.tally.add(places[0], f"its other side is {inflect(abs(best), 'line')} {where}", _BLOCK)


def _correlation(source_N: Floats, target_N: Floats, lines: int) -> float:
    """Return the correlation of a side with the other one that is so many lines below; 0 for lines all alike."""
    size = len(source_N) - abs(lines)
    first, second = source_N[max(0, -lines) :][:size], target_N[max(0, lines) :][:size]
    if not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def length_histogram(sides: Sequence[tuple[str, Distribution]]) -> Histogram:
    """Return lines by length, the sides over the same bins; the last bin has the longest hundredth."""
    width = max(1, math.ceil((max(lengths.quantile(0.99) for _, lengths in sides) + 1) / _BINS))
    edges = range(width, (_BINS + 1) * width, width)
    series = tuple((name, lengths.bin(edges)) for name, lengths in sides)
    below = [f"{edge - width} to {edge - 1}" if width > 1 else f"{edge - 1}" for edge in edges]
    return Histogram("Line lengths", "characters", (*below, f"{_BINS * width} and more"), series)
