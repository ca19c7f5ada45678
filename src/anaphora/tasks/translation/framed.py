"""Texts whose translations must begin with a given prefix."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.batch import Ids, pad
from anaphora.errors import ConfigError, DataError
from anaphora.prediction.arguments import demand_texts, given_text
from anaphora.search.restraints import WholeWords
from anaphora.search.steering import Steering
from anaphora.tasks.translation.required_terms import SentenceTerms, within
from anaphora.text.apart import Apart
from anaphora.text.normalise import normalise
from anaphora.text.placeholders import is_glued
from anaphora.text.rare import AnnotatedTokenizer
from anaphora.text.tokenizer import UNK, Tokenizer
from anaphora.wording import counted


class Framed(NamedTuple):
    """A text, and what its translation must begin with."""

    text: str
    prefix: str | None = ""
    """Whole words, that of the first sentence; None where it is missing, so that the text is refused."""


class Prefix(NamedTuple):
    """The prefix of a sentence as tokens."""

    ids: tuple[int, ...] = ()
    closed: bool = False
    """Whether it ends in a word, which the next token must not continue."""


def framed(texts: Sequence[str], prefixes: Sequence[str] | None) -> Sequence[str | Framed]:
    """Texts with their prefixes; TypeError for what is no text, DataError for other numbers of the two."""
    demand_texts(texts)
    if prefixes is None:
        return texts
    demand_texts(prefixes)
    if len(texts) != len(prefixes):
        raise DataError(
            f"Each text should have a prefix, but there are {counted(len(texts), 'text')} and "
            f"{counted(len(prefixes), 'prefix')}: give as many, an empty one where there is none."
        )
    return list(map(Framed, texts, prefixes))


class Prefixes:
    """Prefixes in the tokens of one target vocabulary."""

    def __init__(self, target: Tokenizer) -> None:
        self._target = target

    def of(self, prefix: str | None, sentences: Sequence[Apart], number: int) -> list[Prefix]:
        """The prefix of each sentence of line ``number``.

        Raises DataError for one that is missing, has nothing to begin, or cannot be written, and ConfigError where the
        translator annotates every word.
        """
        if prefix is None:
            raise DataError(
                f"Line {number} has no prefix: give one for every line of the text, an empty one where there is none."
            )
        none = [Prefix() for _ in sentences]
        text = given_text(prefix, number).strip()
        if not text:
            return none
        if not sentences or not sentences[0].text:
            raise DataError(f"Line {number} has the prefix '{text}', but nothing to translate: leave the prefix empty.")
        return [self._prefix(text, sentences[0], number), *none[1:]]

    def _prefix(self, text: str, apart: Apart, number: int) -> Prefix:
        if isinstance(self._target, AnnotatedTokenizer) and self._target.rare == "posall":
            raise ConfigError(
                "This translator writes an annotation behind every word (text.rare = 'posall'), which a prefix lacks: "
                "translate without prefixes."
            )
        for kept in [one.text for one in apart.units] + [one.text for one in apart.tags]:
            if kept in text:
                raise DataError(
                    f"Line {number} has a prefix with '{kept}', which is kept from the source and written once: "
                    f"leave it out of the prefix, or do not protect it."
                )
        line = normalise(text, lowercase=self._target.lowercase)
        placed = [*self._target.placed(text), (UNK, len(line))]
        for (token, start), (_, end) in pairwise(placed):
            if token == UNK:
                raise DataError(
                    f"Line {number} has a prefix with '{line[start:end].strip()}', which is outside the vocabulary of "
                    f"the translator: use other words, or a translator of subwords."
                )
        return Prefix(tuple(token for token, _ in placed[:-1]), is_glued(line[-1:]))


def demand_room(prefix: Prefix, apart: Apart, terms: SentenceTerms, longest: int, number: int) -> None:
    """DataError where a prefix leaves no room for all else in a translation of at most ``longest`` tokens."""
    missing = [forms for forms in terms.required if not any(within(form, prefix.ids) for form in forms)]
    room = longest - len(apart.units) - sum(max(map(len, forms)) for forms in missing) - 1
    if prefix.ids and len(prefix.ids) > room:
        raise DataError(
            f"Line {number} has a prefix of {counted(len(prefix.ids), 'token')}, but its translation has room for "
            f"{max(0, room):,} beside all else that it must contain: shorten the prefix."
        )


def prefixes_of(rows: Iterable[Prefix]) -> Ids | None:
    """The prefixes of a batch; None where it has none."""
    ids = [row.ids for row in rows]
    return pad(ids) if any(ids) else None


def whole_words(rows: Sequence[Prefix], after_V: Tensor) -> list[Steering]:
    """What keeps the last words of the prefixes of a batch whole; ``after_V`` as for ``WholeWords``."""
    lengths = [len(row.ids) * row.closed for row in rows]
    return [WholeWords(torch.tensor(lengths), after_V)] if any(lengths) else []
