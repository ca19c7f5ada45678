"""Lengths and their ratio as histograms; a corpus of any size takes the memory of its different lengths."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from anaphora.data.check.findings import SHOWN, Largest, Tally

LONG_CHARACTERS, LONG_MIDDLES = 500, 20
"""A line is very long from more characters than this on, when it is this many times as long as the middle one too."""

RATIO_FACTOR = 3.0
"""A pair is out of proportion when its ratio is this many times the usual one, or this many times less."""

RATIO_SMOOTHING = 10
"""Characters added to both sides of a ratio, so that short sentences may differ more."""

_BINS = 12
_FINE = 100
"""Steps of the logarithm of a ratio that is counted."""
_RATIO_EDGES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@dataclass(frozen=True)
class Histogram:
    """Counts by bin, one series or several over the same bins."""

    title: str
    unit: str
    """What the labels count."""
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]
    """Name and counts of each."""


class Lengths:
    """The lengths of one side's lines, in characters; empty lines are left out."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self._largest = Largest()

    def see(self, length: int, file: Path, line: int) -> None:
        """Take note of a line that is not empty."""
        self.counts[length] += 1
        if length > LONG_CHARACTERS:
            self._largest.add(length, file, line, f"{length:,} characters")

    def quantile(self, share: float) -> int:
        """The length that this many of the lines do not exceed; 0 without lines."""
        return quantile(self.counts, share)

    def long(self) -> Tally:
        """The very long lines."""
        least = max(LONG_CHARACTERS, LONG_MIDDLES * self.quantile(0.5))
        count = sum(lines for length, lines in self.counts.items() if length > least)
        return Tally(count, list(self._largest.beyond(least)))


class Ratios:
    """How long targets are beside their sources."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._shortest, self._longest = Largest(), Largest()

    def see(self, source: int, target: int, file: Path, line: int) -> None:
        """Take note of a pair with two sides, by their characters."""
        value = math.log((target + RATIO_SMOOTHING) / (source + RATIO_SMOOTHING))
        self._counts[math.floor(value * _FINE)] += 1
        shown = f"{source:,} to {target:,} characters"
        self._longest.add(value, file, line, shown)
        self._shortest.add(-value, file, line, shown)

    def unusual(self) -> Tally:
        """The pairs out of proportion."""
        middle, reach = quantile(self._counts, 0.5) / _FINE, math.log(RATIO_FACTOR)
        count = sum(
            pairs
            for place, pairs in self._counts.items()
            if place / _FINE > middle + reach or (place + 1) / _FINE < middle - reach
        )
        longest, shortest = list(self._longest.beyond(middle + reach)), list(self._shortest.beyond(reach - middle))
        places = [*longest[: max(SHOWN // 2, SHOWN - len(shortest))], *shortest][:SHOWN]
        return Tally(max(count, len(places)), places)

    def histogram(self) -> Histogram:
        """Pairs by ratio of target to source."""
        edges = [math.floor(math.log(edge) * _FINE) for edge in _RATIO_EDGES]
        counts = [0] * (len(edges) + 1)
        for place, pairs in self._counts.items():
            counts[sum(place >= edge for edge in edges)] += pairs
        middles = [f"{low:g} to {high:g}" for low, high in pairwise(_RATIO_EDGES)]
        labels = (f"under {_RATIO_EDGES[0]:g}", *middles, f"{_RATIO_EDGES[-1]:g} and more")
        return Histogram(
            "How long targets are beside their sources", "target / source", labels, (("pairs", tuple(counts)),)
        )


def quantile(counts: Counter[int], share: float) -> int:
    """The least value that ``share`` of all that was counted does not exceed; 0 when nothing was."""
    wanted, seen = share * counts.total(), 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= wanted:
            return value
    return 0


def length_histogram(sides: Sequence[tuple[str, Lengths]]) -> Histogram:
    """Lines by length in characters, the sides over the same bins; the last bin takes the longest hundredth."""
    longest = max(lengths.quantile(0.99) for _, lengths in sides)
    width = max(1, math.ceil((longest + 1) / _BINS))
    series = []
    for name, lengths in sides:
        counts = [0] * (_BINS + 1)
        for length, lines in lengths.counts.items():
            counts[min(_BINS, length // width)] += lines
        series.append((name, tuple(counts)))
    spans = [f"{place * width} to {(place + 1) * width - 1}" if width > 1 else str(place) for place in range(_BINS)]
    return Histogram("How long lines are", "characters", (*spans, f"{_BINS * width} and more"), tuple(series))
