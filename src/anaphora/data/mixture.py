"""Parts of a training split in proportions: languages by temperature, synthetic pairs in a ratio to real ones.

An epoch draws a number of rows of each part. Draws go through a part in one order after the other, so that the rows of
a part are drawn equally often, or differ by one. The rows of an epoch are a pure function of (seed, epoch).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from anaphora.data.buckets import shuffle
from anaphora.data.columns import Integers
from anaphora.data.corpora import Pair, PairCorpus

MOST_REPEATS = 10
"""Times that an epoch draws a row at most: an epoch of a small language beside a very large one is shorter."""
_DRAWN = 3
"""Purpose of the orders of a part, beside those of ``buckets``."""


class Proportions(NamedTuple):
    """Proportions of the parts of a training split."""

    temperature: float = 1.0
    """Directions are drawn in proportion to (number of pairs) ** (1 / temperature); 1 draws every pair alike."""
    synthetic_ratio: float = 1.0
    """Synthetic pairs that are drawn for a real one of the same direction, at most."""

    def draws(self, parts: Sequence[PairCorpus], counts: Sequence[int]) -> list[int]:
        """Return how many rows an epoch draws of each part, which has so many."""
        pairs = list(zip(parts, counts, strict=True))
        real = {part.languages: count for part, count in pairs if count and not part.synthetic}
        powers = {languages: count ** (1 / self.temperature) for languages, count in real.items()}
        longest = [MOST_REPEATS * count / powers[languages] for languages, count in real.items()]
        scale = min([sum(real.values()) / max(1.0, sum(powers.values())), *longest])
        drawn = Counter({languages: max(1, round(scale * power)) for languages, power in powers.items()})
        return [
            min(count, round(self.synthetic_ratio * drawn[part.languages])) if part.synthetic else drawn[part.languages]
            for part, count in pairs
        ]

    def balance(self, corpus: PairCorpus) -> Iterator[Pair]:
        """Yield each pair of a corpus as often as an epoch draws it on average, rounded evenly."""
        counts = [part.count for part in corpus.parts]
        for part, draws, count in zip(corpus.parts, self.draws(corpus.parts, counts), counts, strict=True):
            for number, pair in enumerate(part):
                yield from repeat(pair, (number + 1) * draws // count - number * draws // count)


class Mixture:
    """Rows of a store, part after part, with the tags in front of the sources of each part."""

    def __init__(self, counts: Sequence[int], draws: Sequence[int], tags: Sequence[Sequence[int]], seed: int) -> None:
        """``counts`` are the rows of each part, ``draws`` how many of them an epoch has."""
        self._parts, self._ends, self._seed = list(zip(counts, draws, strict=True)), np.cumsum(counts), seed
        self._tags = [np.array(own, dtype=np.int64) for own in tags]

    def epoch(self, number: int) -> Integers:
        """Return the rows of epoch ``number`` (from 1), ascending."""
        starts = [0, *self._ends[:-1].tolist()]
        return np.concatenate([start + self._drawn(part, number) for part, start in enumerate(starts)])

    def _drawn(self, part: int, epoch: int) -> Integers:
        count, draws = self._parts[part]
        if draws in (0, count):
            return np.arange(draws)
        first, begin = divmod((epoch - 1) * draws, count)
        passes = range(first, first + -(-(begin + draws) // count))
        orders = np.concatenate([shuffle(count, self._seed, part, number, _DRAWN) for number in passes])
        return np.sort(orders[begin : begin + draws])

    def tags(self, rows: Integers) -> list[Integers]:
        """Return the tags in front of each of the rows."""
        return [self._tags[part] for part in np.searchsorted(self._ends, rows, side="right").tolist()]

    def tag_counts(self, rows: Integers) -> Integers:
        """Return the number of tags in front of each of the rows."""
        return np.array([len(tags) for tags in self._tags])[np.searchsorted(self._ends, rows, side="right")]
