"""Pairs that are left out of training on request: near-duplicates, unusual length ratios, and the wrong script."""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Literal

import regex

from anaphora.text.normalise import normalise
from anaphora.text.scripts import script_of, scripts_of

if TYPE_CHECKING:
    from anaphora.data.corpora import Pair, PairCorpus

Filter = Literal["near-duplicates", "length-ratio", "script", "copies"]
"""Names of the filters."""

SYNTHETIC_FILTERS: tuple[Filter, ...] = ("copies", "length-ratio", "near-duplicates")
"""Filters of pairs that a program wrote."""

RATIO_SMOOTHING = 10
"""Characters that are added to both sides of a pair, so that short pairs may differ more."""
RATIO_FACTOR = 3.0
"""Factor beyond which a ratio of lengths is unusual."""
_SAMPLE = 10_000
"""Pairs that tell the usual ratio."""
MIN_LETTERS = 4
"""A text with fewer letters (OK, km, USB) may be in any script."""
_NO_WORD = regex.compile(r"[\W\d_]+")

Reason = Callable[[str, str], str]
"""Function from the sides of a pair to why it is left out; to nothing for one that stays."""


def log_ratio(source: int, target: int) -> float:
    """Return the logarithm of the length ratio of a pair with so many characters."""
    return math.log((target + RATIO_SMOOTHING) / (source + RATIO_SMOOTHING))


class Filters:
    """Some filters for pairs in two languages."""

    def __init__(
        self,
        names: Sequence[Filter],
        sides: tuple[str, str],
        pairs: "Iterable[Pair]",
        known: "PairCorpus | None" = None,
    ) -> None:
        """``pairs`` tell the usual length ratio, by the median of the first ones; ``known`` ones count as earlier."""
        self.names, self._known = tuple(names), known or ()
        self.marks = (*names, *([known.fingerprint] if known else ()))
        """Settings on which a fingerprint of the remaining pairs depends."""
        self._scripts = tuple(map(scripts_of, sides))
        sample = islice(pairs, _SAMPLE) if "length-ratio" in names else ()
        ratios = [log_ratio(len(source), len(target)) for source, target in sample if source and target]
        self._usual = median(ratios) if ratios else 0.0
        self.choices: tuple[str, ...] = (*self.marks, *sides)
        """All that what is left out of given pairs depends on."""

    def begin(self) -> Reason:
        """Return a pass over a corpus, whose pairs with both sides are to be given in order.

        Of near-duplicates, which differ in case, digits, signs and white space alone, the first one stays. That takes
        some 100 bytes of memory a pair.
        """
        seen = {_key(*pair) for pair in self._known}

        def reason(source: str, target: str) -> str:
            if "copies" in self.names and source.strip().casefold() == target.strip().casefold():
                return "with one text on both sides"
            if "script" in self.names and not all(map(_is_in, (source, target), self._scripts)):
                return "in the wrong script"
            unusual = abs(log_ratio(len(source), len(target)) - self._usual) > math.log(RATIO_FACTOR)
            if "length-ratio" in self.names and unusual:
                return "with an unusual length ratio"
            if "near-duplicates" not in self.names:
                return ""
            key = _key(source, target)
            if key in seen:
                return "that repeat an earlier pair but for case, digits and signs"
            seen.add(key)
            return ""

        return reason


def _is_in(text: str, scripts: frozenset[str]) -> bool:
    letters = list(filter(None, map(script_of, text)))
    return not scripts or len(letters) < MIN_LETTERS or not scripts.isdisjoint(letters)


def _key(source: str, target: str) -> bytes:
    """Return a hash of the words of a pair; of all of it where it has none."""
    plain = [_NO_WORD.sub(" ", normalise(side).casefold()).strip() for side in (source, target)]
    text = "\n".join(plain if all(plain) else (source, target))
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
