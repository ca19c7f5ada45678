"""Which segments share words with a text: the words of all segments as columns of numbers, which grow.

A segment whose similarity to a text is s shares at least a fraction s of the longer one's words with it. So the shared
words, which are counted for all segments at once, bound the similarity, and only segments whose bound is high enough
are compared.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from heapq import heappush, heappushpop
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anaphora.memory.similarity import END, distance, percent, places, words, words_of_all

_MOST = 255
"""Occurrences of a word in a segment are counted up to here; a segment with more has a looser bound."""


class Similar(NamedTuple):
    """A segment that is similar to a text."""

    percent: int
    number: int
    """Of the segment in the memory."""


class Index:
    """The words of segments."""

    def __init__(self) -> None:
        self._ids = _Ids()
        self._words, self._nth = array("i"), array("B")
        """The words of one segment after the other, 0 behind each, and which occurrence there each of them is."""
        self._ends, self._numbers = array("q", [0]), array("q")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, segments: Sequence[tuple[int, str]]) -> None:
        """Add segments, each by its number and source text."""
        found = words_of_all([text for _, text in segments])
        ids = np.fromiter(map(self._ids.__getitem__, found), np.int32, len(found))
        (ends,) = np.nonzero(ids == 0)
        rows = np.repeat(np.arange(len(segments)), np.diff(ends, prepend=-1))
        self._words.frombytes(ids.tobytes())
        self._nth.frombytes(np.minimum(_occurrences(rows * len(self._ids) + ids), _MOST).astype(np.uint8).tobytes())
        self._ends.extend((ends + 1 + self._ends[-1]).tolist())
        self._numbers.extend(number for number, _ in segments)

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
            other = self._words[self._ends[place] : self._ends[place + 1] - 1]
            found = Similar(
                percent(distance(bits, len(asked), other), max(len(asked), len(other))), self._numbers[place]
            )
            if found.percent >= least:
                heappush(best, found) if len(best) < most else heappushpop(best, found)
        return sorted(best, reverse=True)

    def _bounds(self, asked: Sequence[int], least: int) -> tuple[list[int], list[int]]:
        """Places of segments that may be similar enough, and the percentages that they cannot exceed, highest first."""
        times = np.zeros(len(self._ids), np.uint8)
        for word, count in Counter(word for word in asked if word > 0).items():
            times[word] = min(count, _MOST)
        ends = np.frombuffer(self._ends, np.int64)
        is_shared = np.frombuffer(self._nth, np.uint8) < times.take(np.frombuffer(self._words, np.int32))
        shared = np.add.reduceat(is_shared, ends[:-1], dtype=np.int32)
        bounds = 100 * shared // np.maximum(np.diff(ends) - 1, len(asked))
        (near,) = np.nonzero(bounds >= max(1, least))
        near = near[np.argsort(-bounds[near], kind="stable")]
        return near.tolist(), bounds[near].tolist()


class _Ids(dict[str, int]):
    """Numbers of words in the order in which they were seen; that of ``END`` is 0."""

    def __init__(self) -> None:
        super().__init__({END: 0})

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def _occurrences(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each value how many equal ones stand before it."""
    order = np.argsort(values, kind="stable")
    (begins,) = np.nonzero(np.diff(values[order], prepend=-1))
    found = np.empty_like(values)
    found[order] = np.arange(len(values)) - np.repeat(begins, np.diff(begins, append=len(values)))
    return found
