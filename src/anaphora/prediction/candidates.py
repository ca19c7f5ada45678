"""The words that a translation may be written with (Jean et al. 2015, section 3.3): frequent ones, and likely ones.

A sentence's candidates are the K most frequent target words and, of each of its own words, the K' most probable
translations that a dictionary has and the word itself, which names and numbers need. Search then scores some thousand
words instead of all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from anaphora.batch import Ids, pad
from anaphora.errors import ConfigError
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import EOS, MARKS, UNK, Tokenizer
from anaphora.text.words import WordTokenizer
from anaphora.wording import inflect

Value = TypeVar("Value")


class Lookup(Generic[Value]):
    """Entries of a table by word, in any case.

    Dictionaries and translators write words in cases of their own: one learnt from lower-cased text has ``hund`` for
    the ``Hund`` of the other.
    """

    def __init__(self, table: Mapping[str, Value]) -> None:
        """``table`` by words; of those that differ in their case alone, the first stands for all others."""
        self._table = table
        self._lower: dict[str, Value] = {}
        for word, value in table.items():
            self._lower.setdefault(word.lower(), value)

    def exact(self, word: str) -> Value | None:
        """Return the entry of the word as it is written, or None."""
        return self._table.get(word)

    def find(self, word: str) -> Value | None:
        """Return the entry of the word as it is written, or in any case; or None."""
        found = self.exact(word)
        return self._lower.get(word.lower()) if found is None else found


class Shortlist(NamedTuple):
    """Candidates of the run's own shortlist, which ``anaphora shortlist`` makes: tokens, of any tokenizer.

    >>> options = anaphora.SearchOptions(candidates=anaphora.Shortlist(frequent=100))
    >>> print(options.candidates)
    100 frequent tokens and 20 translations of each token
    """

    frequent: int = 500
    """Number of the most frequent target tokens that every sentence may be written with; above the vocabulary, all."""
    each: int = 20
    """Translations taken of each source token."""

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings for ``json.dumps``."""
        return {"frequent": self.frequent, "each": self.each, "of": "run"}

    def __str__(self) -> str:
        """Return the settings in words."""
        return f"{inflect(self.frequent, 'frequent token')} and {inflect(self.each, 'translation')} of each token"


@dataclass(frozen=True)
class Candidates:
    """Source of candidates."""

    translations: Mapping[str, Sequence[str]]
    """Translations of source words, the most probable first."""
    frequent: int = 2000
    """K: how many of the most frequent target words every sentence may be written with."""
    each: int = 10
    """K': translations taken of each source word."""

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings for ``json.dumps``."""
        return {"frequent": self.frequent, "each": self.each}

    def __str__(self) -> str:
        """Return the settings in words."""
        return f"{inflect(self.frequent, 'frequent word')} and {inflect(self.each, 'translation')} of each source word"

    def of(self, texts: Sequence[str], source: Tokenizer, target: Tokenizer, also: Sequence[Sequence[int]] = ()) -> Ids:
        """Return the candidates of every text, a function of it alone; ids rise.

        ``also`` are tokens that the translation of each must be able to have.

        Raises ConfigError where tokens are not words, which alone have translations.
        """
        if not isinstance(source, WordTokenizer) or not isinstance(target, WordTokenizer):
            raise ConfigError(
                "Candidates are whole words, but the tokens of this translator are smaller: translate "
                "without candidates."
            )
        size = target.symbols.size
        first = len(MARKS) + (target.annotations if isinstance(target, AnnotatedTokenizer) else 0)
        always = {UNK, EOS, *range(len(MARKS), min(size, first + self.frequent))}
        known = Lookup({word: len(MARKS) + place for place, word in enumerate(target.vocabulary)})
        rows = [
            sorted(always.union(needed, *(self._likely(word, known) for word in source.words(text))))
            for text, needed in zip(texts, also or [()] * len(texts), strict=True)
        ]
        return pad(rows)

    def _likely(self, word: str, known: Lookup[int]) -> list[int]:
        """Return the ids of the translations of a word, and of the word itself."""
        translations = self._translations.find(word) or ()
        ids = (known.find(one) for one in (*translations[: self.each], word))
        return [token for token in ids if token is not None]

    @cached_property
    def _translations(self) -> Lookup[Sequence[str]]:
        return Lookup(self.translations)
