"""Translation probabilities of words: a sparse table, and its maximisation.

A table has an entry for every pair of words that some pair of sentences shows, sorted by

    key = source word * V + target word

with V words on the target's side. The source word 0, the padding of every vocabulary, stands for the empty word: what
a target word is linked to that translates nothing.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from anaphora.protocols import Array

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]

EMPTY = 0
"""The source word that stands for none."""

FLOOR = 1e-7
"""The probability of a pair that the table does not have, and the least that is kept in it."""


class Lexicon(NamedTuple):
    """p(target word | source word)."""

    keys: Array
    """int64, ascending."""
    probs: Floats
    """float64."""
    size: int
    """V."""

    @classmethod
    def even(cls, keys: Array, size: int) -> Self:
        """Return the table in which all target words seen with a source word are equally likely."""
        return cls(keys, np.ones(len(keys)), size).maximise(np.ones(len(keys)))

    def entries(self, keys: Array) -> Array:
        """Return the places of pairs in the table; -1 where it has none."""
        if not len(self.keys):
            return np.full(keys.shape, -1, dtype=np.int32)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1).astype(np.int32)

    def of(self, entries: Array) -> Floats:
        """Return the probabilities at such places."""
        return np.append(self.probs, FLOOR)[entries]  # -1 is the last

    def maximise(self, counts: Floats) -> Self:
        """The table that makes the expected ``counts`` of its entries most probable: each over its source's sum."""
        sources = self.keys // self.size
        totals = np.bincount(sources, counts)
        return self._replace(probs=np.maximum(counts / np.maximum(totals, FLOOR)[sources], FLOOR))

    def translations(self, least: float) -> Iterator[tuple[int, int, float]]:
        """Yield the pairs of at least the probability ``least`` with it, by source word, the most probable first."""
        sources, targets = self.keys // self.size, self.keys % self.size
        kept = np.flatnonzero((self.probs >= least) & (sources != EMPTY))
        order = kept[np.lexsort((targets[kept], -self.probs[kept], sources[kept]))]
        yield from zip(sources[order].tolist(), targets[order].tolist(), self.probs[order].tolist(), strict=True)

    def prune(self) -> Self:
        """Return the table without the entries that are no likelier than a pair it does not have."""
        kept = self.probs > FLOOR
        return self._replace(keys=self.keys[kept], probs=self.probs[kept])
