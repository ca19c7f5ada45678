"""A part held out for validation when a person gives none: seeded, small, and apart from what is trained on.

Pairs are chosen by their source sentence, so that equal sources fall on the same side of the cut. The choice needs one
pass and the memory of the sentences held out: those with the smallest keyed hashes are a fair sample of all.
"""

import hashlib
import heapq
import unicodedata

LARGEST_SHARE = 0.05
LARGEST_COUNT = 2000


class HeldOut:
    """Collects the candidates in one pass over a corpus, then tells which pairs are held out."""

    def __init__(self, seed: int, share: float = LARGEST_SHARE) -> None:
        """The same corpus and ``seed`` give the same choice of at most ``share``, whatever the order of the corpus."""
        self._share = share
        self._key = str(seed).encode()
        self._worst: list[int] = []  # negated hashes of the candidates, as a heap
        self._counts: dict[int, int] = {}
        self._seen = 0
        self._chosen: frozenset[int] = frozenset()
        self.count = 0
        """Pairs held out, known after ``choose``."""

    def add(self, source: str) -> None:
        """Look at one pair's source."""
        self._seen += 1
        place = self._hash(source)
        if place in self._counts:
            self._counts[place] += 1
        elif len(self._worst) < LARGEST_COUNT:
            heapq.heappush(self._worst, -place)
            self._counts[place] = 1
        elif -place > self._worst[0]:
            # a source that leaves never comes back, so the counts of those that stay are whole
            del self._counts[-heapq.heapreplace(self._worst, -place)]
            self._counts[place] = 1

    def choose(self) -> None:
        """Fix the choice: at most the share and 2,000 pairs, but at least one if any can be spared."""
        room = max(1, min(LARGEST_COUNT, int(self._seen * self._share)))
        chosen = set()
        self.count = 0
        for place in sorted(self._counts):
            pairs = self._counts[place]
            if self.count + pairs <= room and self.count + pairs < self._seen:
                chosen.add(place)
                self.count += pairs
        self._chosen = frozenset(chosen)

    def __contains__(self, source: str) -> bool:
        return self._hash(source) in self._chosen

    def _hash(self, source: str) -> int:
        # sentences that differ in case or spaces alone would be the same to many a model
        plain = " ".join(unicodedata.normalize("NFC", source).casefold().split())
        return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8, key=self._key).digest(), "little")


def in_tenth(text: str) -> bool:
    """Whether a text is in the tenth that a hash chooses; texts that differ in case or spaces alone go together."""
    plain = " ".join(text.casefold().split())
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), "little") % 10 == 0
