"""Texts whose translations must begin with a given prefix and end with a given suffix."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.batch import Ids, pad
from anaphora.errors import ConfigError, DataError
from anaphora.prediction.arguments import demand_texts, given_text
from anaphora.search.automaton import Form
from anaphora.search.constraints import WholeWords
from anaphora.search.steering import Steering
from anaphora.search.suffixes import Suffixes
from anaphora.tasks.translation.required_terms import SentenceTerms, within
from anaphora.text.masking import JOINING, MaskedText
from anaphora.text.placeholders import is_glued
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import UNK, Tokenizer
from anaphora.wording import counted

_WORD = "a"
"""Word in front of a suffix, for the suffix's tokens."""


class Framed(NamedTuple):
    """A text, and what its translation must begin and end with."""

    text: str
    prefix: str | None = ""
    """Whole words, that of the first sentence; None where it is missing, so that the text is refused."""
    suffix: str | None = ""
    """Likewise of the last sentence. It stands behind a space, unless it begins with a sign."""


class Prefix(NamedTuple):
    """The prefix of a sentence as tokens."""

    ids: Form = ()
    closed: bool = False
    """True if it ends in a word, which the next token must not continue."""


class Affixes(NamedTuple):
    """Tokens that the translation of a sentence must begin and end with."""

    prefix: Prefix = Prefix()
    suffix: Form = ()

    def demand_room(self, masked: MaskedText, terms: SentenceTerms, longest: int, number: int) -> None:
        """Raise DataError where a translation of at most ``longest`` tokens lacks room for it and its terms."""
        given = {"a prefix": self.prefix.ids, "a suffix": self.suffix}
        tokens = sum(map(len, given.values()))
        missing = [forms for forms in terms.required if not any(within(form, self.prefix.ids) for form in forms)]
        room = longest - len(masked.units) - sum(max(map(len, forms)) for forms in missing) - 1
        if tokens and tokens > room:
            raise DataError(
                f"Line {number} has {' and '.join(name for name, ids in given.items() if ids)} of "
                f"{counted(tokens, 'token')}, but its translation has room for {max(0, room):,} beside all else that "
                f"it must contain: shorten what is given."
            )


def with_affixes(
    texts: Sequence[str], prefixes: Sequence[str] | None, suffixes: Sequence[str] | None
) -> Sequence[str | Framed]:
    """Return texts with what is given of them; TypeError for what is no text, DataError for other numbers of them."""
    demand_texts(texts)
    if prefixes is None and suffixes is None:
        return texts
    for given, name in ((prefixes, "prefix"), (suffixes, "suffix")):
        if given is None:
            continue
        demand_texts(given)
        if len(texts) != len(given):
            raise DataError(
                f"Each text should have a {name}, but there are {counted(len(texts), 'text')} and "
                f"{counted(len(given), name)}: give as many, an empty one where there is none."
            )
    none = [""] * len(texts)
    return list(map(Framed, texts, none if prefixes is None else prefixes, none if suffixes is None else suffixes))


class AffixEncoder:
    """Prefixes and suffixes in the tokens of one target vocabulary."""

    def __init__(self, target: Tokenizer) -> None:
        self._target = target

    def of(self, line: Framed, sentences: Sequence[MaskedText], number: int) -> list[Affixes]:
        """Return those of each sentence of a line.

        Raises DataError for what is missing, has nothing to frame, or cannot be written, and ConfigError where the
        translator annotates every word.
        """
        found = [Affixes() for _ in sentences]
        if prefix := self._given(line.prefix, "prefix", sentences[:1], number).strip():
            placed = self._target.placed(prefix)
            ids = self._known(prefix, placed, "prefix", number)
            closed = is_glued(self._target.normal(prefix)[-1:])
            found[0] = found[0]._replace(prefix=Prefix(ids, closed))
        if suffix := self._given(line.suffix, "suffix", sentences[-1:], number).rstrip():
            found[-1] = found[-1]._replace(suffix=self._suffix(suffix, sentences[-1], number))
        return found

    def _given(self, given: str | None, name: str, sentences: Sequence[MaskedText], number: int) -> str:
        """A prefix or suffix as it is given; sentences are the one that it belongs to, if there is any."""
        if given is None:
            raise DataError(
                f"Line {number} has no {name}: give one for every line of the text, an empty one where there is none."
            )
        if given == "" or not (text := given_text(given, number)).strip():
            return ""
        if not sentences or not sentences[0].text:
            raise DataError(
                f"Line {number} has the {name} '{text.strip()}', but nothing to translate: leave the {name} empty."
            )
        if isinstance(self._target, AnnotatedTokenizer) and self._target.rare == "posall":
            raise ConfigError(
                f"This translator writes an annotation behind every word (text.rare = 'posall'), which a {name} lacks: "
                f"translate without any."
            )
        for kept in [one.text for one in sentences[0].units] + [one.text for one in sentences[0].tags]:
            if kept in text:
                raise DataError(
                    f"Line {number} has a {name} with '{kept}', which is kept from the source and written once: "
                    f"leave it out of the {name}, or do not protect it."
                )
        return text

    def _known(self, text: str, placed: Sequence[tuple[int, int]], name: str, number: int) -> Form:
        """The tokens that are placed in a text; DataError where one of them is unknown."""
        line = self._target.normal(text)
        for (token, start), (_, end) in pairwise([*placed, (UNK, len(line))]):
            if token == UNK:
                raise DataError(
                    f"Line {number} has a {name} with '{line[start:end].strip()}', which is outside the vocabulary of "
                    f"the translator: use other words, or a translator of subwords."
                )
        return tuple(token for token, _ in placed)

    def _suffix(self, text: str, masked: MaskedText, number: int) -> Form:
        """The tokens of a suffix as they are behind a word, so that a sign at its beginning may join it."""
        bare = text.lstrip()
        if masked.units and text.startswith(JOINING):
            raise DataError(
                f"Line {number} has a suffix that begins with '{text[0]}', which would join it to a placeholder: "
                f"begin it with a space."
            )
        joined = bare == text and not is_glued(bare[:1])
        for before in (_WORD, f"{_WORD} ")[not joined :]:
            placed = [one for one in self._target.placed(before + bare) if one[1] >= len(_WORD)]
            if placed[:1] == [(UNK, len(_WORD))] and placed[1:] and placed[1][1] == len(before):
                placed = placed[1:]  # the vocabulary has no space
            if placed and placed[0][1] <= len(before):
                return self._known(before + bare, placed, "suffix", number)
        raise DataError(f"Line {number} has the suffix '{bare}', which the translator cannot write: use other words.")


def prefixes_of(rows: Sequence[Affixes]) -> Ids | None:
    """Return the prefixes of a batch; None where it has none."""
    ids = [row.prefix.ids for row in rows]
    return pad(ids) if any(ids) else None


def steering_of(rows: Sequence[Affixes], longest: Sequence[int], after_V: Tensor, eos: int) -> list[Steering]:
    """Return the steering that keeps the last words of prefixes whole, and writes suffixes.

    Outputs have at most ``longest`` tokens. ``after_V`` is as for ``WholeWords``.
    """
    found: list[Steering] = []
    lengths, suffixes = [len(row.prefix.ids) * row.prefix.closed for row in rows], [row.suffix for row in rows]
    if any(lengths):
        found.append(WholeWords(torch.tensor(lengths), after_V))
    if any(suffixes):
        found.append(Suffixes(suffixes, torch.tensor(longest), eos))
    return found
