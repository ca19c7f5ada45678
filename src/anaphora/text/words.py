"""Words as tokens: the most frequent ones of the training text, everything else ``<unk>``.

Words are counted in one pass that holds a number for every distinct word and nothing else, so its memory is bounded by
the number of types of a text, not by its length.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypedDict, Unpack

from anaphora.errors import DataError, RunError
from anaphora.files import sha256
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.joiner_tokens import JOINER
from anaphora.text.normalise import Lowercase
from anaphora.text.segmentation import Segmentation, Tokens, tokens_of
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.text_rule import TextRule
from anaphora.text.tokenizer import BOS, EOS, MARKS, PAD, SPACE, UNK, Tokenizer, listed_in, one_line, show_text


class WordOptions(TypedDict):
    """Options of a tokenizer of words."""

    lowercase: Lowercase
    segmentation: Segmentation
    language: str
    """A two-letter code."""


class WordTokenizer(Tokenizer):
    """A Tokenizer whose tokens are words; ``<unk>`` in a text is the unknown word, and the unknown word reads so."""

    def __init__(
        self, words: Sequence[str], *, lowercase: Lowercase, segmentation: Segmentation, language: str
    ) -> None:
        """``words`` in the order of their ids, special tokens left out; ``language`` is a two-letter code."""
        self.vocabulary = tuple(words)
        """The words in the order of their ids, which begin behind the special tokens."""
        self.lowercase: Lowercase = lowercase
        self._segmentation: Segmentation = segmentation
        self._language = language
        self._ids = {word: len(MARKS) + place for place, word in enumerate(self.vocabulary)}
        self._written = (*MARKS, *self.vocabulary)
        self._size = len(self._written)

    @classmethod
    def learn(
        cls, lines: Iterable[str], *, size: int, least: int, first: Sequence[str] = (), **options: Unpack[WordOptions]
    ) -> Self:
        """Return the words ``first``, then the most frequent that are seen at least ``least`` times, ``size`` in all.

        Equally frequent words are taken in the order of their code points. Raises DataError when there is no word.
        """
        empty = cls((), **options)
        counts: Counter[str] = Counter()
        for line in lines:
            counts.update(empty.words(line))
        for mark in (*MARKS, *first):
            counts.pop(mark, None)
        frequent = [word for word, count in counts.items() if count >= least]
        frequent.sort(key=lambda word: (-counts[word], word))
        places = size - len(MARKS) - len(first)
        if places < 1:
            raise DataError(f"text.size = {size} leaves no room for words beside marks and annotations: raise it.")
        words = frequent[:places]
        if not words:
            raise DataError(
                f"No word occurs {least:,} or more times in the training text: give more text, or lower text.min_count."
            )
        return cls([*first, *words], **options)

    @classmethod
    def deserialise(cls, data: bytes, *, lowercase: Lowercase, segmentation: Segmentation) -> Self:
        """Return the tokenizer that ``serialise`` wrote; RunError when the bytes are no list of words."""
        table, words = listed_in(data, "words")
        language = table.get("language")
        if not {*words}.isdisjoint(MARKS) or not isinstance(language, str):
            raise RunError("A vocabulary of words should have a language and no mark, but does otherwise.")
        return cls(words, lowercase=lowercase, segmentation=segmentation, language=language)

    def extend(self, words: Iterable[str]) -> Self:
        """Return the tokenizer with those of ``words`` appended that it has not."""
        known = {*self.vocabulary, *MARKS}
        more = [word for word in dict.fromkeys(words) if word not in known]
        if not more:
            return self
        return type(self)([*self.vocabulary, *more], **self.options)

    @property
    def options(self) -> WordOptions:
        """Casing, segmentation and language."""
        return {"lowercase": self.lowercase, "segmentation": self._segmentation, "language": self._language}

    def serialise(self) -> bytes:
        """JSON, readable by people: the language, and a word a line in the order of their ids."""
        table = {"language": self._language, "words": self.vocabulary}
        return (json.dumps(table, ensure_ascii=False, indent=0) + "\n").encode()

    @property
    def context_free(self) -> bool:
        """True if words are split at white space alone, whatever surrounds them."""
        return self._segmentation == "whitespace"

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the words, the case and the segmentation, in the words of format 1."""
        segmentation = "none" if self._segmentation == "whitespace" else self._segmentation
        return sha256(f"word {self.lowercase} {segmentation} ".encode() + self.serialise())

    def encode(self, text: str) -> list[int]:
        """Return one id a word, without special tokens at the ends."""
        return [self._ids.get(word, UNK) for word in self.words(text)]

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        """Return the words and where they begin: see ``Tokenizer``."""
        line = self.normal(text)
        starts = (start for start, _ in self._spans(line, self.words(text)))
        return list(zip(self.encode(text), starts, strict=True))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the line, words joined as the language writes them."""
        return one_line(self.tokens.join(self._visible(ids)))

    def decode_with(self, ids: Sequence[int], words: Sequence[str]) -> str:
        """``decode`` with ``words`` in the place of the unknown ones, in their order."""
        given = iter(words)
        visible = (next(given) if word == MARKS[UNK] else word for word in self._visible(ids))
        return one_line(self.tokens.join(list(visible)))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the words one by one, with U+2581 in front of those that ``decode`` sets a space before."""
        line, place, pieces = self.decode(ids), 0, list[str]()
        for number in ids:
            if number in (PAD, BOS, EOS):
                pieces.append(self._written[number])
                continue
            word = self.tokens.surface(self._written[number])
            spaced = line.startswith(" ", place) and not word.isspace()
            found = line.startswith(word, place + spaced)
            place += spaced + len(word) if found else 0
            pieces.append(_piece(word, not found or spaced or place <= len(word)))
        return pieces

    def words(self, text: str) -> list[str]:
        """Return the words of one line, known or not; white space at its ends is none."""
        return self.tokens.split(self.normal(text).strip())

    def pieces_of(self, text: str) -> list[str]:
        """Return the words of one line as ``pieces`` shows them, but with U+2581 where the line itself has a space."""
        line, place, pieces = self.normal(text), 0, list[str]()
        words = self.words(text)
        for word, (start, end) in zip(words, self._spans(line, words), strict=True):
            spaced = start == end or not line[:start].strip() or " " in line[place:start]
            pieces.append(_piece(self.tokens.surface(self._written[self._ids.get(word, UNK)]), spaced))
            place = end
        return pieces

    def _spans(self, line: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Return begin and end of each word in its line; one that is written otherwise is empty, after the last."""
        place = 0
        for word in map(self.tokens.surface, words):
            start = line.find(word, place)
            start, place = (start, start + len(word)) if start >= 0 else (place, place)
            yield start, place

    @cached_property
    def tokens(self) -> Tokens:
        """Return the segmentation of lines, which also joins them again."""
        return tokens_of(self._segmentation, self._language)

    def _visible(self, ids: Sequence[int]) -> list[str]:
        return [self._written[number] for number in ids if number not in (PAD, BOS, EOS)]


def _piece(word: str, spaced: bool) -> str:
    """Return a word, or a space that is a token, as pieces show it."""
    return SPACE if word == " " else (SPACE if spaced else "") + show_text(word)


def spellings(tokenizer: Tokenizer) -> Sequence[str]:
    """Return the spelling of every token, by id, special tokens first: words without the space before them."""
    if isinstance(tokenizer, WordTokenizer):
        return (*MARKS, *tokenizer.vocabulary, *tokenizer.tags)
    return [*tokenizer.pieces(range(tokenizer.symbols.size - len(tokenizer.tags))), *tokenizer.tags]


def with_rules(tokenizers: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tokenizers to be used: those without a rule go by their vocabulary, which says what training text had.

    They copy texts without a word, unless few of their tokens have a letter: then numbers are what they translate.
    """
    for tokenizer in tokenizers.values():
        if tokenizer.rule is None and not isinstance(tokenizer, ByteTokenizer):
            tokens = [token for token in spellings(tokenizer)[len(MARKS) :] if not token.startswith("<")]
            double = isinstance(tokenizer, CharacterTokenizer) or 2 * JOINER in tokens
            letters = sum(any(map(str.isalpha, token)) for token in tokens)
            copies = 2 * letters > len(tokens) and not isinstance(tokenizer, SymbolTokenizer)
            tokenizer.rule = TextRule({*"".join(tokens)} - {" "} | ({" "} if double else set()), copies)
    return tokenizers
