"""Sentences of words, each with its characters, those that the vocabulary lacks too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from anaphora.batch import SpeltIds, pad
from anaphora.data.columns import UNBOUNDED, Bound, Integers, Table, Writer
from anaphora.data.fields.field import Field, Place, distinct_appender
from anaphora.data.ragged import Ragged
from anaphora.text.normalise import normalise
from anaphora.text.tokenizer import BOS, EOS, MARKS, UNK
from anaphora.text.words import WordTokenizer


@dataclass(frozen=True)
class WordRows:
    """Sentences as numbers of distinct words, in the order in which these occur first."""

    sentences: Ragged
    """Number of the distinct word of each token."""
    words_W: Integers
    """Id of each distinct word."""
    letters: Ragged
    """Characters of each distinct word."""

    @property
    def lengths(self) -> Integers:
        """Tokens of each sentence."""
        return self.sentences.lengths


class Words(Field[Sequence[str]]):
    """Words as ids of two vocabularies: their own, and that of their characters."""

    unit = "token"
    bound = UNBOUNDED

    def __init__(
        self,
        name: str,
        words: WordTokenizer,
        characters: WordTokenizer,
        get: Callable[[Any], Sequence[str]],
        *,
        longest: int = 0,
    ) -> None:
        """Of each word its first ``longest`` characters are read."""
        super().__init__(name, get)
        self.words, self.characters, self._longest = words, characters, longest

    @property
    def identity(self) -> Sequence[object]:
        return [self.words.fingerprint, self.characters.fingerprint, self._longest]

    @property
    def columns(self) -> Mapping[str, Bound]:
        own = {f"{self.name}.words": self.words.symbols.size, f"{self.name}.letters.ids": self.characters.symbols.size}
        return {**super().columns, **own, f"{self.name}.letters.ends": UNBOUNDED}

    def encode(self, values: Sequence[Sequence[str]], place: Place) -> Ragged:
        """Return the words themselves, which are numbered as they are appended or held."""
        return Ragged.of_strings(values)

    def appender(self, into: Writer) -> Callable[[Ragged], None]:
        def add(word: str) -> None:
            into.write(f"{self.name}.words", [self.word(word)])
            into.add(f"{self.name}.letters", self.letters(word))

        return distinct_appender(into, self.name, add)

    def from_store(self, table: Table) -> WordRows:
        letters = Ragged(table[f"{self.name}.letters.ids"], table[f"{self.name}.letters.ends"])
        return WordRows(super().from_store(table), np.asarray(table[f"{self.name}.words"]), letters)

    def from_memory(self, rows: Ragged) -> WordRows:
        sentences, distinct = rows.as_numbers({})
        words = np.array(list(map(self.word, distinct)), dtype=np.int64)
        return WordRows(sentences, words, Ragged.of(map(self.letters, distinct)))

    def items(self, rows: WordRows, chosen: Integers, multiple: int = 1) -> SpeltIds:
        tokens = rows.sentences.split(chosen)
        distinct_N, places = np.unique(np.concatenate(tokens), return_inverse=True)
        words = pad(np.split(places, np.cumsum([len(row) for row in tokens])[:-1]), multiple=multiple)
        characters = pad(rows.letters.split(distinct_N))
        ids_N = np.asarray(rows.words_W[distinct_N]).astype(np.int64)
        return SpeltIds(ids_N[words.ids_BT], words.lengths_B, words.ids_BT, characters.ids_BT, characters.lengths_B)

    def word(self, word: str) -> int:
        """Return the id of a word."""
        return self._words.get(self.words.normal(word), UNK)

    def letters(self, word: str) -> list[int]:
        """Return the ids of a word's characters, between a begin and an end."""
        plain = normalise(self.words.plain(word))[: self._longest]
        return [BOS, *(self._letters.get(letter, UNK) for letter in plain), EOS]

    @cached_property
    def _words(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.words.vocabulary, len(MARKS))}

    @cached_property
    def _letters(self) -> Mapping[str, int]:
        return {letter: number for number, letter in enumerate(self.characters.vocabulary, len(MARKS))}
