"""Strings as symbols: characters, or what stands between spaces; and tags after a tab, one symbol each.

"sagen<TAB>V;PST" is s a g e n and the tags V and PST. A tag is no character, even where it is written like one: in a
vocabulary it has a tab in front.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Self
from unicodedata import category

from anaphora.errors import RunError
from anaphora.protocols import FeaturedVocabularyInfo, VocabularyInfo
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.normalise import Lowercase, normalise
from anaphora.text.tokenizer import EOS, UNK, Tokenizer, listed_in, one_line

TAB = "\t"
"""Separator of a string from its tags, which also precedes a tag in a vocabulary."""
_SEPARATOR = ";"
_SAMPLE = 1000
"""Strings that are looked at to tell how they are written."""
_LONGEST = 3.0
"""Characters of a symbol on average, where spaces separate symbols and not words."""


class SymbolTokenizer(CharacterTokenizer):
    """A Tokenizer of strings."""

    kind = "symbol"

    def __init__(
        self, alphabet: Sequence[str], *, lowercase: Lowercase, separated: bool = False, features: bool = False
    ) -> None:
        """``alphabet`` gives the symbols in the order of their ids; ``separated``: spaces stand between them.

        With ``features``, tags stand behind the end of a string, for an embedding apart from the encoder.
        """
        super().__init__(alphabet, lowercase=lowercase)
        self.separated, self.features = separated, features
        if features:
            self._ids[TAB] = EOS
        self.context_free = separated

    @property
    def symbols(self) -> VocabularyInfo:
        return FeaturedVocabularyInfo(*super().symbols) if self.features else super().symbols

    def beside(self, separated: bool, features: bool = False) -> Self:
        """Return the same vocabulary for strings that are written otherwise."""
        return type(self)(self.alphabet, lowercase=self.lowercase, separated=separated, features=features)

    def extend(self, other: Self) -> Self:
        both = super().extend(other)
        return both if both is self else both.beside(self.separated, self.features)

    @classmethod
    def deserialise(cls, data: bytes, *, lowercase: Lowercase) -> Self:
        """Return the tokenizer that ``serialise`` wrote; RunError when the bytes are no vocabulary of symbols."""
        table, symbols = listed_in(data, "symbols")
        separated = table.get("separated")
        if not isinstance(separated, bool):
            raise RunError("A vocabulary of symbols should say whether spaces separate them, but the file does not.")
        return cls(symbols, lowercase=lowercase, separated=separated, features=bool(table.get("features")))

    def serialise(self) -> bytes:
        """JSON, readable by people: the symbols in the order of their ids, and whether spaces separate them."""
        table = {"separated": self.separated, "symbols": self.alphabet} | ({"features": True} if self.features else {})
        return (json.dumps(table, ensure_ascii=False) + "\n").encode()

    def plain(self, text: str) -> str:
        """Return a string by the rule, and its tags as they are."""
        string, tab, tags = text.partition(TAB)
        return super().plain(string) + tab + tags

    def symbols_of(self, text: str) -> list[str]:
        """Return the symbols of a string, known or not, a tag with a tab in front."""
        string, _, tags = text.partition(TAB)
        string = self.normal(string.strip())
        symbols = string.split() if self.separated else list(string)
        if tags:
            symbols += [TAB] if self.features else []
            symbols += [TAB + tag.strip() for tag in normalise(tags).split(_SEPARATOR) if tag.strip()]
        return symbols

    def unknown(self, text: str) -> list[str]:
        """Return the symbols of a string that the vocabulary lacks, each once, tags as they are written."""
        found = dict.fromkeys(symbol for symbol in self.symbols_of(text) if symbol not in self._ids)
        return [symbol.removeprefix(TAB) for symbol in found]

    def stand_ins(self, text: str) -> dict[str, str]:
        """Return for each unknown character of a string one that is known and not in it, of the same Unicode category.

        It is of middling frequency in training: seen often enough to be copied, and seldom a part of affixes. None
        where symbols are separated, for tags, and where no character is left.
        """
        string = self.normal(text.partition(TAB)[0])
        found: dict[str, str] = {}
        for unknown in dict.fromkeys("" if self.separated else string):
            if unknown in self._ids:
                continue
            kind, taken = category(unknown), {*string, *found.values()}
            alike = [one for one in self.alphabet if len(one) == 1 and category(one) == kind and one not in taken]
            if alike:
                found[unknown] = alike[len(alike) // 2]
        return found

    def encode(self, text: str) -> list[int]:
        """Return one id a symbol, without special tokens at the ends."""
        return [self._ids.get(symbol, UNK) for symbol in self.symbols_of(text)]

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        """Return the symbols and where they begin: see ``Tokenizer``."""
        line, place, placed = self.normal(text), 0, list[tuple[int, int]]()
        for symbol, number in zip(self.symbols_of(text), self.encode(text), strict=True):
            found = line.find(symbol.removeprefix(TAB), place)
            place = max(found, place)
            placed.append((number, place))
            place += len(symbol.removeprefix(TAB)) if found >= 0 else 0
        return placed

    def decode(self, ids: Sequence[int]) -> str:
        """Return the string, its tags left out; ``<unk>`` reads as U+FFFD."""
        symbols = [self._written[number] for number in ids]
        return one_line((" " if self.separated else "").join(one for one in symbols if one and one[0] != TAB))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the symbols one by one, a space shown as U+2581."""
        return [piece.removeprefix(TAB) for piece in super().pieces(ids)]


def can_copy(source: Tokenizer, target: Tokenizer) -> bool:
    """True if an unknown character of the source can be copied: both sides have one vocabulary of characters."""
    if not isinstance(source, SymbolTokenizer) or not isinstance(target, SymbolTokenizer):
        return False
    return not (source.separated or target.separated) and source.fingerprint == target.fingerprint


def are_separated(strings: Iterable[str]) -> bool:
    """True if spaces seem to separate symbols: they stand in most strings, and what is between them is short."""
    rows = [string.partition(TAB)[0].split() for string in islice(strings, _SAMPLE)]
    several = sum(len(row) > 1 for row in rows)
    lengths = [len(symbol) for row in rows for symbol in row]
    return 2 * several > len(rows) and sum(lengths) < _LONGEST * len(lengths)
