"""Words of held-out splits that the training split does not have; memory grows with the vocabulary of the former."""

import unicodedata
from collections import Counter
from dataclasses import dataclass, field

from anaphora.datacheck.findings import Place, Tally
from anaphora.text.normalise import Lowercase, lowered
from anaphora.text.punctuation import plain_words

MAX_LINES = 100_000
"""Lines of a held-out split whose words are looked up; the rest of a larger split is assumed to be similar."""


@dataclass
class Unknown:
    """Running words of a held-out split that training does not have."""

    running: int = 0
    """Running words looked up."""
    unknown: Tally = field(default_factory=Tally)
    """Those that do not occur in training in any case."""
    in_other_case: Tally = field(default_factory=Tally)
    """Those that occur in training only in another case."""


class HeldOutWords:
    """The words of one side of the held-out splits; call ``gather`` for all of them before ``strike``."""

    def __init__(self, *, lowercase: Lowercase) -> None:
        """``lowercase`` lower-cases all text first, like the experiment's tokenizer."""
        self._lowercase = lowercase
        self._lines: Counter[int] = Counter()
        self._counts: dict[int, Counter[str]] = {}
        self._first: dict[tuple[int, str], Place] = {}
        self._unseen: set[str] = set()
        self._unseen_folded: set[str] = set()

    def gather(self, split: int, text: str, place: Place) -> None:
        """Add a line of a held-out split."""
        self._lines[split] += 1
        if self._lines[split] > MAX_LINES:
            return
        words = self._words(text)
        self._counts.setdefault(split, Counter()).update(words)
        for word in words:
            self._first.setdefault((split, word), place)
        self._unseen.update(words)
        self._unseen_folded.update(map(str.casefold, words))

    def strike(self, text: str) -> None:
        """Remove the words of a training line."""
        words = self._words(text)
        self._unseen.difference_update(words)
        self._unseen_folded.difference_update(map(str.casefold, words))

    def result(self, split: int) -> Unknown:
        counts = self._counts.get(split, Counter())
        result = Unknown(counts.total())
        for word, count in counts.items():
            if word in self._unseen:
                tally = result.unknown if word.casefold() in self._unseen_folded else result.in_other_case
                tally.add(self._first[split, word], word, count)
        return result

    def _words(self, text: str) -> list[str]:
        composed = unicodedata.normalize("NFC", text)
        return plain_words(lowered(composed, self._lowercase))
