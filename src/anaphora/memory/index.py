"""Which segments share words with a text: an inverted index in memory, which grows as segments are added.

A segment whose similarity to a text is s shares at least a fraction s of the longer one's words with it. So the shared
words, which the index counts for all segments at once, bound the similarity, and only segments whose bound is high
enough are compared.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from heapq import heappush, heappushpop
from typing import NamedTuple

import numpy as np

from anaphora.memory.similarity import distance, percent, places, words


class Similar(NamedTuple):
    """A segment that is similar to a text."""

    percent: int
    number: int
    """Of the segment in the memory."""


class Index:
    """The words of segments."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._postings: dict[tuple[int, int], array[int]] = {}
        """By a word and which of its occurrences in a segment it is: the places of the segments that have it."""
        self._words, self._ends = array("i"), array("q", [0])
        self._numbers = array("q")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: int, text: str) -> None:
        """Add the source text of a segment."""
        place, seen = len(self._numbers), Counter[int]()
        for word in words(text):
            known = self._ids.setdefault(word, len(self._ids))
            self._words.append(known)
            self._postings.setdefault((known, seen[known]), array("i")).append(place)
            seen[known] += 1
        self._ends.append(len(self._words))
        self._numbers.append(number)

    def similar(self, text: str, least: int, most: int) -> list[Similar]:
        """The ``most`` segments that are most similar to a text, of at least ``least`` percent.

        The most similar comes first; of those alike the one with the highest number, which is the newest.
        """
        asked = [self._ids.get(word, -1 - place) for place, word in enumerate(words(text))]
        if not asked or not len(self):
            return []
        bits, best = places(asked), list[Similar]()
        for place, bound in zip(*self._bounds(asked, least), strict=True):
            if len(best) == most and bound < best[0].percent:
                break
            other = self._words[self._ends[place] : self._ends[place + 1]]
            found = Similar(
                percent(distance(bits, len(asked), other), max(len(asked), len(other))), self._numbers[place]
            )
            if found.percent >= least:
                heappush(best, found) if len(best) < most else heappushpop(best, found)
        return sorted(best, reverse=True)

    def _bounds(self, asked: Sequence[int], least: int) -> tuple[list[int], list[int]]:
        """Places of segments that may be similar enough, and the percentages that they cannot exceed, highest first."""
        seen, shared = Counter[int](), np.zeros(len(self), np.int32)
        for word in asked:
            having = self._postings.get((word, seen[word]))
            seen[word] += 1
            if having is not None:
                shared[np.frombuffer(having, np.int32)] += 1  # a segment has an occurrence of a word once
        lengths = np.diff(np.frombuffer(self._ends, np.int64))
        bounds = 100 * shared // np.maximum(lengths, len(asked))
        (near,) = np.nonzero(bounds >= max(1, least))
        near = near[np.argsort(-bounds[near], kind="stable")]
        return near.tolist(), bounds[near].tolist()
