"""Parts of a training split in proportions: languages by temperature, synthetic pairs in a ratio to real ones.

An epoch draws a number of rows of each part. Draws go through a part in one order after the other, so that each of its
rows is drawn as often as any other, up to once; what an epoch draws is a pure function of (seed, epoch).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from anaphora.data.buckets import shuffle
from anaphora.data.columns import Integers
from anaphora.data.corpora import Pair, PairCorpus

MOST_REPEATS = 10
"""Times that an epoch draws a row at most: an epoch of a small language beside a very large one is shorter."""
_DRAWN = 3
"""Key of the order of a part, beside those of ``buckets``."""

Item = TypeVar("Item")


class Proportions(NamedTuple):
    """Proportions of the parts of a training split."""

    temperature: float = 1.0
    """Directions are drawn in proportion to (number of pairs) ** (1 / temperature): 1 draws every pair alike."""
    synthetic_ratio: float = 1.0
    """Synthetic pairs that are drawn for a real one of the same direction, at most."""

    def draws(self, parts: Sequence[PairCorpus], counts: Sequence[int]) -> list[int]:
        """Return how many rows an epoch draws of each part, which has so many."""
        real = [count for part, count in zip(parts, counts, strict=True) if not part.synthetic]
        powers = [count ** (1 / self.temperature) for count in real]
        shortest = min((MOST_REPEATS * count / power for count, power in zip(real, powers, strict=True) if count), default=0)
        scale = min(sum(real) / max(1.0, sum(powers)), shortest)
        drawn = {
            part.languages: min(MOST_REPEATS * count, max(1, round(scale * count ** (1 / self.temperature)))) if count else 0
            for part, count in zip(parts, counts, strict=True)
            if not part.synthetic
        }
        return [
            min(count, round(self.synthetic_ratio * drawn[part.languages])) if part.synthetic else drawn[part.languages]
            for part, count in zip(parts, counts, strict=True)
        ]

    def balance(self, corpus: PairCorpus) -> Iterator[Pair]:
        """Yield the pairs of a corpus as often as an epoch draws each on average."""
        counts = [part.count for part in corpus.parts]
        parts = zip(corpus.parts, self.draws(corpus.parts, counts), counts, strict=True)
        return chain.from_iterable(_spread(part, drawn, count) for part, drawn, count in parts)


def _spread(items: Iterable[Item], drawn: int, count: int) -> Iterator[Item]:
    """Yield ``drawn`` of so many items, evenly spread, some of them again where there are fewer."""
    for number, item in enumerate(items):
        for _ in range((number + 1) * drawn // count - number * drawn // count):
            yield item


class Mixture:
    """Rows of a store, part after part, with the tags in front of the sources of each part."""

    def __init__(self, counts: Sequence[int], draws: Sequence[int], tags: Sequence[Sequence[int]], seed: int) -> None:
        """``counts`` are the rows of each part, ``draws`` how many of them an epoch has."""
        self._counts, self._draws, self._seed = counts, draws, seed
        self._ends = np.cumsum(counts)
        self._tags = [np.array(own, dtype=np.int64) for own in tags]
        self._tag_counts = np.array([len(own) for own in tags])

    def epoch(self, number: int) -> Integers:
        """Return the rows of epoch ``number`` (from 1), ascending."""
        starts = self._ends - self._counts
        rows = [start + self._drawn(part, number) for part, start in enumerate(starts.tolist())]
        return np.concatenate(rows)

    def _drawn(self, part: int, epoch: int) -> Integers:
        count, draws = self._counts[part], self._draws[part]
        if count == draws or not draws:
            return np.arange(draws)
        first = (epoch - 1) * draws
        passes = range(first // count, (first + draws - 1) // count + 1)
        orders = np.concatenate([shuffle(count, self._seed, part, number, _DRAWN) for number in passes])
        begin = first - passes[0] * count
        return np.sort(orders[begin : begin + draws])

    def tag_counts(self, rows: Integers) -> Integers:
        """Return the number of tags in front of each of the rows."""
        return np.asarray(self._tag_counts[self._part_of(rows)])

    def tags(self, rows: Integers) -> list[Integers]:
        """Return the tags in front of each of the rows."""
        return [self._tags[part] for part in self._part_of(rows).tolist()]

    def _part_of(self, rows: Integers) -> Integers:
        return np.searchsorted(self._ends, rows, side="right")
