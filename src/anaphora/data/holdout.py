"""A part held out for validation when a person gives none: seeded, small, and apart from what is trained on.

Pairs are chosen by the sentence of one side, so that equal ones fall on the same side of the cut. The choice needs one
pass and the memory of the sentences held out: those with the smallest keyed hashes are a fair sample of all.
"""

import hashlib
import heapq
import unicodedata
from collections.abc import Iterable
from typing import Literal

LARGEST_SHARE = 0.05
LARGEST_COUNT = 2000
_FRACTIONS = (10, 5, 2)
"""One in so many texts is held out."""


class HeldOut:
    """Collects the candidates in one pass over a corpus, then tells which pairs are held out."""

    def __init__(self, seed: int, share: float = LARGEST_SHARE, side: Literal["source", "target"] = "source") -> None:
        """The same corpus and ``seed`` give the same choice of at most ``share``, whatever the order of the corpus.

        Pairs are chosen by the sentence of one ``side``.
        """
        self.seed, self.side, self._share = seed, side, share
        self._key = str(seed).encode()
        self._worst: list[int] = []  # negated hashes of the candidates, as a heap
        self._found: dict[int, list[tuple[int, str, str]]] = {}  # their pairs with their places, as far as may be
        self._seen = 0
        self.chosen = frozenset[int]()
        """Hashes of the sentences that are held out, known after ``choose``; a choice of before may be put here."""
        self.identity: list[object] = [seed, *(["by target"] if side == "target" else [])]
        """Values that a choice follows from, beside the corpus and the fraction, for fingerprints."""

    def add(self, source: str, target: str) -> None:
        """Look at one pair."""
        self._seen += 1
        place = self._hash((source, target))
        if place not in self._found:
            if len(self._worst) < LARGEST_COUNT:
                heapq.heappush(self._worst, -place)
            elif -place > self._worst[0]:
                # a sentence that leaves never comes back, so the pairs of those that stay are all there
                del self._found[-heapq.heapreplace(self._worst, -place)]
            else:
                return
            self._found[place] = []
        if len(self._found[place]) <= LARGEST_COUNT:  # with one more, none of them will be chosen
            self._found[place].append((self._seen, source, target))

    def choose(self) -> list[tuple[str, str]]:
        """Fix the choice: at most the share and 2,000 pairs, but at least one if any can be spared; returns them."""
        room = max(1, min(LARGEST_COUNT, int(self._seen * self._share)))
        chosen, pairs = set(), list[tuple[int, str, str]]()
        for place, found in sorted(self._found.items()):
            if len(pairs) + len(found) <= room and len(pairs) + len(found) < self._seen:
                chosen.add(place)
                pairs += found
        self.chosen = frozenset(chosen)
        return [(source, target) for _, source, target in sorted(pairs)]

    def __contains__(self, pair: tuple[str, str]) -> bool:
        return self._hash(pair) in self.chosen

    def _hash(self, pair: tuple[str, str]) -> int:
        return _place(unicodedata.normalize("NFC", pair[self.side == "target"]), self._key)


def is_held_out(text: str, one_in: int) -> bool:
    """True if a text is in the fraction that a hash chooses; texts that differ in case or spaces alone go together."""
    return _place(text) % one_in == 0


def fraction_of(texts: Iterable[str]) -> tuple[int, int] | None:
    """One in how many texts to hold out, and how many these are: a tenth, or more of so few that their tenth is empty.

    None where texts are too few, or too much alike, to leave some on both sides.
    """
    held = dict.fromkeys((*_FRACTIONS, 1), 0)
    for text in texts:
        place = _place(text)
        for one_in in held:
            held[one_in] += place % one_in == 0
    return next(((one_in, found) for one_in, found in held.items() if 0 < found < held[1]), None)


def _place(text: str, key: bytes = b"") -> int:
    plain = " ".join(text.casefold().split())  # texts that differ in case or spaces alone are the same to many a model
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8, key=key).digest(), "little")
