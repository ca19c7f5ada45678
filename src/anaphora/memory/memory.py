"""The memory of a run: which segments are found for a text, and in which order."""

import re
from array import array
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from heapq import heappush, heappushpop
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from anaphora.memory.segment import EXACT, Change, Match, Segment, key_of
from anaphora.memory.store import Store
from anaphora.text.scripts import UNSPACED_LETTER

_WORD = regex.compile(rf"{UNSPACED_LETTER}\p{{M}}*+|(?:(?!{UNSPACED_LETTER})[\w\p{{M}}])++|[^\w\s]")
_PLAIN = re.compile(
    "[\0-\x1b -\xb1\xb4-\xb8\xba\xbb\xbf-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u1fff\u2010-\u203e\u20a0-\u20cf]*+"
)
_PLAIN_WORD = re.compile(r"\w+|[^\w\s]")
"""A faster pattern that finds the same in Latin, Greek and Cyrillic."""
END = "\0"
"""Separator behind each of several texts."""
NEARLY = 99
"""Percent of a text that differs from another in nothing that the distance sees, such as case."""


def words(text: str) -> list[str]:
    """Return words and punctuation marks in lower case; each character of scripts that are written without spaces."""
    text = text.casefold()
    return _PLAIN_WORD.findall(text) if _PLAIN.fullmatch(text) else list(_WORD.findall(text))


def words_of_all(texts: Sequence[str]) -> list[str]:
    """Return the words of texts one after the other, with ``END`` behind each text."""
    return words("".join([f"{text.replace(END, ' ')} {END}" for text in texts]))


def places(word_list: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return for each word the steps at which it stands, as the bits of a number: one side of ``distance``."""
    bits: dict[Hashable, int] = {}
    for step, word in enumerate(word_list):
        bits[word] = bits.get(word, 0) | 1 << step
    return bits


def distance(bits: Mapping[Hashable, int], length: int, other: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and substitutions that turn a sequence into another.

    The first is given by its ``places`` and its ``length``. All differences of a column of the table are kept in two
    numbers (Myers 1999, in the form of Hyyrö 2003), so that a word of ``other`` takes a few operations.
    """
    if not length:
        return len(other)
    mask, last = (1 << length) - 1, 1 << length - 1
    up, down, total = mask, 0, length
    for word in other:
        same = bits.get(word, 0)
        diagonal = (((same & up) + up) ^ up) | same | down
        right_up = down | ~(diagonal | up)
        right_down = diagonal & up
        total += bool(right_up & last) - bool(right_down & last)
        right_up = right_up << 1 | 1
        up = (right_down << 1 | ~(diagonal | right_up)) & mask
        down = diagonal & right_up & mask
    return total


def percent(edits: int, longer: int) -> int:
    """Similarity of two texts that are not the same, where the longer has so many words: at most ``NEARLY``."""
    return min(NEARLY, int(100 * Fraction(longer - edits, longer))) if longer else 0


def changes(source: str, text: str) -> tuple[Change, ...]:
    """Return the words of a source that a text keeps and lacks, and those that it adds, in their order."""
    old, new = (list(_WORD.finditer(side)) for side in (source, text))
    folded = [[word[0].casefold() for word in side] for side in (old, new)]
    found = list[Change]()
    for kind, first, last, begin, end in SequenceMatcher(None, folded[0], folded[1]).get_opcodes():
        if kind in ("delete", "replace"):
            found.append(Change("removed", source[old[first].start() : old[last - 1].end()]))
        if kind != "delete":
            words = text[new[begin].start() : new[end - 1].end()]
            found.append(Change("kept" if kind == "equal" else "added", words))
    return tuple(found)


_MOST = 255
"""Occurrences of a word are counted up to here; all further ones count as shared with a text that has as many."""


class Similar(NamedTuple):
    """A segment that is similar to a text."""

    percent: int
    number: int
    """Number of the segment in the memory."""


class Index:
    """The words of segments.

    A segment whose similarity to a text is s shares at least a fraction s of the longer one's words with it. So the
    shared words, which are counted for all segments at once, bound the similarity, and only segments whose bound is
    high enough are compared.
    """

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
        self._nth.frombytes(np.minimum(_occurrences(rows * len(self._ids) + ids), _MOST - 1).astype(np.uint8).tobytes())
        self._ends.extend((ends + 1 + self._ends[-1]).tolist())
        self._numbers.extend(number for number, _ in segments)

    def similar(self, text: str, least: int, most: int) -> list[Similar]:
        """Return the ``most`` segments that are most similar to a text, of at least ``least`` percent; any from 0.

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
            edits = distance(bits, len(asked), other)
            found = Similar(percent(edits, max(len(asked), len(other))), self._numbers[place])
            if found.percent >= least:
                heappush(best, found) if len(best) < most else heappushpop(best, found)
        taken = {one.number for one in best}
        others = (number for number in reversed(self._numbers) if least <= 0 and number not in taken)
        return [*sorted(best, reverse=True), *(Similar(0, number) for number in islice(others, most - len(best)))]

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
    """Return for each value how many equal ones stand before it."""
    order = np.argsort(values, kind="stable")
    (begins,) = np.nonzero(np.diff(values[order], prepend=-1))
    found = np.empty_like(values)
    found[order] = np.arange(len(values)) - np.repeat(begins, np.diff(begins, append=len(values)))
    return found


THRESHOLD = 75
"""Percent from which a segment counts as similar, unless another is asked for."""
MATCHES = 5
"""Similar segments that are returned, unless another number is asked for."""


class Memory(Store):
    """Segments of a run folder. It may be used by several threads, and changed by several processes."""

    def __init__(self, folder: Path, *, create: bool = False, pair: str = "") -> None:
        super().__init__(folder, create=create, pair=pair)
        self._index, self._indexed = Index(), 0

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Segment]:
        """Yield all segments, in the order in which they were added."""
        return self.after(0)

    def confirm(self, segment: Segment) -> int | None:
        """Add a segment, to be found first from now on; returns its number, or None where it is found first already.

        Raises RunError where the memory cannot be written to.
        """
        with self._lock:
            best = self.exact(segment.source, segment.before, segment.after)
            if best and best[0].segment.target == segment.target:
                return None
            return self.add_again(segment)

    def exact(self, source: str, before: str = "", after: str = "") -> list[Match]:
        """Return the segments of a text, white space apart, one for each of their targets.

        Those that were between the same neighbours come first, then the newest, then those of the most frequent target.
        """
        found = self.of_key(key_of(source))
        frequency, neighbours = Counter[str](), (key_of(before), key_of(after))
        for one in found:
            frequency[one.target] += one.times

        def order(one: Segment) -> tuple[int, float, int, int]:
            alike = sum(
                bool(asked) and asked == key_of(its)
                for asked, its in zip(neighbours, (one.before, one.after), strict=True)
            )
            return alike, one.added, frequency[one.target], one.number

        best = dict[str, Segment]()
        for one in sorted(found, key=order, reverse=True):
            best.setdefault(one.target, one)
        return [Match(one, EXACT) for one in best.values()]

    def fuzzy(self, source: str, least: int = THRESHOLD, most: int = MATCHES) -> list[Match]:
        """Segments of other texts that are similar, of at least ``least`` percent, the most similar first.

        Similarity is 100 (1 - d / n) percent, rounded down: d is the edit distance between the words of both texts,
        without regard to case, and n the number of words of the longer one. Of equally similar ones the newest comes
        first. The first call reads the whole memory; later ones read what was added since. No other text is more
        similar than 99 percent.
        """
        if least > NEARLY:
            return []
        with self._lock:
            self.refresh()
            key, found = key_of(source), list[Match]()
            wanted = most
            while True:
                similar = self._index.similar(source, least, wanted)
                segments = self.by_numbers([one.number for one in similar])
                found = [
                    Match(segments[one.number], one.percent, changes(segments[one.number].source, source))
                    for one in similar
                    if one.number in segments and key_of(segments[one.number].source) != key
                ]
                if len(found) >= most or len(similar) < wanted:
                    return found[:most]
                wanted *= 2  # exact ones, and those that were removed, took the place of others

    def refresh(self) -> None:
        """Read what was added since the last search for similar segments, before the first one all of it."""
        with self._lock:
            while added := self.sources_after(self._indexed):
                self._index.add(added)
                self._indexed, _ = added[-1]

    def find(self, source: str, least: int = THRESHOLD, most: int = MATCHES) -> list[Match]:
        """Return the exact matches of a text, then the similar ones, as ``exact`` and ``fuzzy`` find them."""
        return [*self.exact(source), *self.fuzzy(source, least, most)]
