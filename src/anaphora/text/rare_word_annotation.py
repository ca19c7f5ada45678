"""Rare words that say where they come from (Luong, Sutskever, Le, Vinyals and Zaremba 2015).

A vocabulary of words leaves rare ones unknown. Annotated, an unknown word of a translation says which source word it
stands for, so that it can be put in afterwards, from a dictionary or as a copy:

    copyable   unknown source words are numbered, <unk:1> <unk:2> ..; an unknown target word that is linked to one of
               them has its number, any other is <unk:none>
    posall     <unk> on both sides; after every target word j stands how far to the left its source word i is, j - i,
               as <at:-7> .. <at:7>, or <at:none> where there is none within reach
    posunk     <unk> in the source; an unknown target word is <unk:-7> .. <unk:7>, or <unk:none>, likewise

Annotations are words of the vocabulary, the first after its marks, so that both sides have the same ids for them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

from anaphora.errors import RunError
from anaphora.text.normalise import Lowercase
from anaphora.text.segmentation import Segmentation
from anaphora.text.tokenizer import MARKS, PAD, UNK, are_texts
from anaphora.text.words import WordTokenizer

Rare = Literal["none", "copyable", "posall", "posunk"]
"""Annotation of rare words."""

NUMBERS = 10
"""Unknown words of a source that are numbered; further ones stay ``<unk>``."""

REACH = 7
"""The furthest that a word's source may be."""


def annotations(rare: Rare) -> tuple[str, ...]:
    """Return the words that annotate, in the order of their ids, "none" last."""
    name = "at" if rare == "posall" else "unk"
    numbers = range(1, NUMBERS + 1) if rare == "copyable" else range(-REACH, REACH + 1)
    return (*(f"<{name}:{number}>" for number in numbers), f"<{name}:none>")


class NumberingTokenizer(WordTokenizer):
    """The words of a source, its unknown ones numbered as they come, a repeated one by the same number."""

    def encode(self, text: str) -> list[int]:
        numbers: dict[str, int] = {}
        ids = super().encode(text)
        for place, word in enumerate(self.words(text)):
            if ids[place] == UNK:
                number = numbers.setdefault(word, len(numbers))
                ids[place] = len(MARKS) + number if number < NUMBERS else UNK
        return ids

    @property
    def fingerprint(self) -> str:
        """A sha256 of the words, the case, the tokens, and of the numbering."""
        return f"numbered {super().fingerprint}"


class ResolvedTranslation(NamedTuple):
    """A translation without its annotations."""

    ids: list[int]
    """Every unknown word is ``<unk>``."""
    sources: list[int]
    """The source word of each ``<unk>``; -1 where there is none."""
    steps: list[int]
    """Positions of the ids."""


class AnnotatedTokenizer(WordTokenizer):
    """The words of a target, annotated, and what its source words translate into."""

    def __init__(self, words: WordTokenizer, rare: Rare, dictionary: Mapping[str, str]) -> None:
        """``words`` begin with the ``annotations``; ``dictionary`` from source words to target words."""
        super().__init__(words.vocabulary, **words.options)
        self.rare = rare
        self.dictionary = dict(dictionary)
        self.annotations = len(annotations(rare))
        self._none = len(MARKS) + self.annotations - 1

    @classmethod
    def restore(cls, data: bytes, rare: Rare, *, lowercase: Lowercase, segmentation: Segmentation) -> Self:
        """Return the tokenizer that ``serialise`` wrote; RunError when the bytes are none."""
        words = WordTokenizer.deserialise(data, lowercase=lowercase, segmentation=segmentation)
        dictionary = json.loads(data).get("dictionary")
        if not isinstance(dictionary, dict) or not are_texts([*dictionary, *dictionary.values()]):
            raise RunError("An annotated vocabulary should have a dictionary of words, but the file has none.")
        return cls(words, rare, dictionary)

    def serialise(self) -> bytes:
        """JSON, readable by people: a word a line, and the dictionary."""
        table = json.loads(super().serialise()) | {"dictionary": self.dictionary}
        return (json.dumps(table, ensure_ascii=False, indent=0) + "\n").encode()

    @property
    def fingerprint(self) -> str:
        """A sha256 of the words, the case, the tokens and the dictionary, and the annotation."""
        return f"{self.rare} {super().fingerprint}"

    def annotate(self, source: Sequence[int], target: Sequence[int], links: Sequence[int]) -> list[int]:
        """The ids of a target with its annotations, given those of its source and the source word of every target word.

        A link of -1 is none.
        """
        if self.rare == "posall":
            return [token for j, word in enumerate(target) for token in (word, self._away(j, links[j]))]
        if self.rare == "posunk":
            return [self._away(j, links[j]) if word == UNK else word for j, word in enumerate(target)]
        numbered = [source[i] if i >= 0 and self._annotates(source[i]) else self._none for i in links]
        return [numbered[j] if word == UNK else word for j, word in enumerate(target)]

    def resolve(self, ids: Sequence[int], source: Sequence[int]) -> ResolvedTranslation:
        """Return a translation of ``source`` without its annotations, and where its unknown words come from."""
        found = ResolvedTranslation([], [], [])
        for step, token in enumerate(ids):
            if self.rare == "posall" and self._annotates(token):
                continue
            unknown = token == UNK or self._annotates(token)
            if unknown:
                after = ids[step + 1] if step + 1 < len(ids) else PAD
                found.sources.append(self._source(after if self.rare == "posall" else token, len(found.ids), source))
            found.ids.append(UNK if unknown else token)
            found.steps.append(step)
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Return the line without annotations, unknown words as ``<unk>``."""
        return super().decode(self.resolve(ids, ()).ids)

    def _source(self, annotation: int, place: int, source: Sequence[int]) -> int:
        """Return the source word that an annotation of the target word ``place`` points to; -1 for none."""
        if not self._annotates(annotation) or annotation == self._none:
            return -1
        if self.rare == "copyable":
            return list(source).index(annotation) if annotation in source else -1
        i = place - (annotation - len(MARKS) - REACH)
        return i if 0 <= i < len(source) else -1

    def _away(self, j: int, i: int) -> int:
        return len(MARKS) + REACH + j - i if i >= 0 and abs(j - i) <= REACH else self._none

    def _annotates(self, token: int) -> bool:
        return len(MARKS) <= token <= self._none
