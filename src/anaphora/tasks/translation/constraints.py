"""Text that a translation must have and must not, as tokens of its target: prefix, suffix and terms of a glossary."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from anaphora.errors import ConfigError, DataError
from anaphora.prediction.arguments import demand_texts, given_text
from anaphora.prediction.glossary import Glossary
from anaphora.search.constraints import WholeWords
from anaphora.search.pointing import Adjacency
from anaphora.search.steering import Form, Steering
from anaphora.search.suffixes import Suffixes
from anaphora.search.terms import ForbiddenForms
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.joiner_tokens import JOINER
from anaphora.text.masking import JOINING, MaskedText
from anaphora.text.placeholders import RESERVED, is_glued
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import MARKS, UNK, Tokenizer
from anaphora.text.words import WordTokenizer, spellings
from anaphora.wording import inflect

_WORD = "a"
"""Word in front of a suffix, for the suffix's tokens."""
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_LETTERS = frozenset((*range(0xC3, 0xE2), *range(0xEA, 0xEE)))
"""Bytes that begin letters in UTF-8, beyond ASCII; not signs, nor characters of scripts without spaces."""

_once = lru_cache(maxsize=16)


class Framed(NamedTuple):
    """A text, and what its translation must begin and end with.

    >>> [found] = translator.stream([anaphora.Framed("The cat sees a very small bird", prefix="Le chat")], split=False)
    >>> found.text
    'Le chat voit un tout petit oiseau'
    """

    text: str
    prefix: str | None = ""
    """Whole words, that of the first sentence; None where it is missing, so that the text is refused."""
    suffix: str | None = ""
    """Likewise of the last sentence. It stands behind a space, unless it begins with a sign."""


def with_affixes(
    texts: Sequence[str], prefixes: Sequence[str] | None, suffixes: Sequence[str] | None
) -> Sequence[str | Framed]:
    """Return texts with what is given of them; TypeError for what is no text, DataError for other numbers of them."""
    demand_texts(texts)
    if prefixes is None and suffixes is None:
        return texts
    sides = {"prefix": prefixes, "suffix": suffixes}
    for name, given in sides.items():
        if given is None:
            continue
        demand_texts(given)
        if len(texts) != len(given):
            raise DataError(
                f"Each text should have a {name}, but there are {inflect(len(texts), 'text')} and "
                f"{inflect(len(given), name)}: give as many, an empty one where there is none."
            )
    return list(map(Framed, texts, *([""] * len(texts) if given is None else given for given in sides.values())))


class RequiredTerm(NamedTuple):
    """A term that a translation must have, in one of its forms."""

    name: str
    """Source form, as the glossary has it."""
    forms: tuple[str, ...]
    tokens: frozenset[int]
    """Tokens of its forms."""
    source: str
    """Source form, as the text has it."""
    start: int
    """Place in the text."""

    def is_in(self, text: str, start: int, end: int) -> bool:
        """True if a text has a form, as whole words, within or across a part of it."""
        return any(
            text[place : place + len(form)].casefold() == form.casefold() and _is_whole(text, place, place + len(form))
            for form in self.forms
            for place in range(max(0, start - len(form) + 1), end)
        )


class SentenceRequest(NamedTuple):
    """One sentence on its way from masking to unmasking, with all that its translation must be."""

    masked: MaskedText
    ids: list[int]
    """Tokens of its text, stand-ins included; none where there is nothing to translate."""
    places: Sequence[range] = ()
    """The source tokens that stand for each masked span."""
    prefix: Form = ()
    closed: bool = False
    """True if the prefix ends in a word, which the next token must not continue."""
    suffix: Form = ()
    required: tuple[RequiredTerm, ...] = ()
    forbidden: tuple[Form, ...] = ()

    @property
    def max_length(self) -> int:
        """Maximum length of its translation, ``</s>`` included."""
        return max_length(len(self.ids))

    @property
    def tokens(self) -> set[int]:
        """The tokens that its translation must be able to have."""
        return {*self.prefix, *self.suffix}.union(*(term.tokens for term in self.required))


Requests = Sequence[SentenceRequest]
"""The sentences of a batch, or of a line."""


def max_length(tokens: int) -> int:
    """Return the maximum length of a translation of so many ``tokens``, ``</s>`` included."""
    return min(3 * tokens + 10, 2 * tokens + 200)


class TargetConstraints:
    """Prefixes, suffixes and the terms of a glossary in the tokens of one target vocabulary."""

    def __init__(self, target: Tokenizer, glossary: Glossary | None) -> None:
        self._target, self._glossary = target, glossary
        spaces = not isinstance(target, WordTokenizer) and not target.context_free
        space = target.encode("a b")[1:2] if spaces else []
        self._space = space[0] if space and space != [UNK] else None

    def add(self, line: Framed, rows: Requests, number: int) -> list[SentenceRequest]:
        """Return the sentences of line ``number`` with what their translations must contain and must not.

        Raises DataError for what is missing, has nothing to frame, cannot be written, has no room or contradicts, and
        ConfigError where the translator annotates every word.
        """
        found = list(rows)
        if prefix := self._check_affix(line.prefix, "prefix", rows[:1], number).strip():
            ids = self._form_of(prefix, self._target.encode_with_places(prefix), "prefix", number)
            found[0] = found[0]._replace(prefix=ids, closed=is_glued(self._target.normal(prefix)[-1:]))
        if suffix := self._check_affix(line.suffix, "suffix", rows[-1:], number).rstrip():
            found[-1] = found[-1]._replace(suffix=self._suffix(suffix, rows[-1].masked, number))
        if self._glossary:
            found = [self._with_terms(row, self._glossary, number) for row in found]
        for row in found:
            _demand_room(row, number)
        return found

    def steering(self, rows: Requests, eos: int) -> list[Steering]:
        """Return the steering to suffixes, to whole last words of prefixes, and away from forbidden terms."""
        found, forbidden = list[Steering](), [row.forbidden for row in rows]
        if any(forbidden):
            found.append(ForbiddenForms(forbidden, eos if self._space is None else self._space))
        lengths, suffixes = [len(row.prefix) * row.closed for row in rows], [row.suffix for row in rows]
        if any(lengths):
            found.append(WholeWords(np.array(lengths), adjacency_of(self._target).after_V))
        if any(suffixes):
            found.append(Suffixes(suffixes, np.array([row.max_length for row in rows]), eos))
        return found

    def _check_affix(self, given: str | None, name: str, rows: Requests, number: int) -> str:
        """Return a prefix or suffix as it is given; ``rows`` are the sentence that it belongs to, if there is any."""
        if given is None:
            raise DataError(
                f"Line {number} has no {name}: give one for every line of the text, an empty one where there is none."
            )
        if given == "" or not (text := given_text(given, number)).strip():
            return ""
        if not rows or not rows[0].masked.text:
            raise DataError(
                f"Line {number} has the {name} '{text.strip()}', but nothing to translate: leave the {name} empty."
            )
        if isinstance(self._target, AnnotatedTokenizer) and self._target.rare == "posall":
            raise ConfigError(
                f"This translator writes an annotation behind every word (text.rare = 'posall'), which a {name} lacks: "
                f"translate without any."
            )
        masked = rows[0].masked
        for kept in [*(unit.text for unit in masked.units), *(tag.text for tag in masked.tags)]:
            if kept in text:
                raise DataError(
                    f"Line {number} has a {name} with '{kept}', which is kept from the source and written once: "
                    f"leave it out of the {name}, or do not protect it."
                )
        return text

    def _form_of(self, text: str, placed: Sequence[tuple[int, int]], name: str, number: int) -> Form:
        """Return the tokens that are placed in a text; DataError where one of them is unknown."""
        line = self._target.normal(text)
        for (token, start), (_, end) in pairwise([*placed, (UNK, len(line))]):
            if token == UNK:
                raise DataError(
                    f"Line {number} has a {name} with '{line[start:end].strip()}', which is outside the vocabulary of "
                    f"the translator: use other words, or a translator of subwords."
                )
        return tuple(token for token, _ in placed)

    def _suffix(self, text: str, masked: MaskedText, number: int) -> Form:
        """Return the tokens of a suffix as they are behind a word, so that a sign at its beginning may join it."""
        bare = text.lstrip()
        if masked.units and text.startswith(JOINING):
            raise DataError(
                f"Line {number} has a suffix that begins with '{text[0]}', which would join it to a placeholder: "
                f"begin it with a space."
            )
        joined = bare == text and not is_glued(bare[:1])
        for before in (_WORD, f"{_WORD} ")[not joined :]:
            placed = [one for one in self._target.encode_with_places(before + bare) if one[1] >= len(_WORD)]
            if placed[:1] == [(UNK, len(_WORD))] and placed[1:] and placed[1][1] == len(before):
                placed = placed[1:]  # the vocabulary has no space
            if placed and placed[0][1] <= len(before):
                return self._form_of(before + bare, placed, "suffix", number)
        raise DataError(f"Line {number} has the suffix '{bare}', which the translator cannot write: use other words.")

    def _with_terms(self, row: SentenceRequest, glossary: Glossary, number: int) -> SentenceRequest:
        """Return a sentence with its terms; DataError for those that cannot be written, or contradict."""
        text = list(row.masked.text)
        for unit in row.masked.units:
            text[unit.start : unit.end] = "\0" * (unit.end - unit.start)
        matches = glossary.of("".join(text))
        forbidden = {
            form: match.entry
            for match in matches
            for one in match.entry.forbidden
            for form in self._forms(one, match.entry.where, True)
        }
        begun = row.prefix if self._space is None else (self._space, *row.prefix)
        for form, entry in forbidden.items():
            if row.prefix and _is_within(form, begun):
                raise DataError(
                    f"Line {number} has a prefix with a term that is forbidden there ({entry.where}): leave out one of "
                    f"the two."
                )
            if row.suffix and (_is_within(form, row.suffix) or _ends_in(form, row.suffix)):
                raise DataError(
                    f"Line {number} has a suffix with a term that is forbidden there, or with the end of one "
                    f"({entry.where}): leave out one of the two."
                )
        required = []
        for entry, capital, start, end in matches:
            forms = {one: self._forms(one, entry.where, capital) for one in entry.required}
            known = {one: tokens for one in forms if (tokens := [form for form in forms[one] if UNK not in form])}
            if forms and not known:
                raise DataError(
                    f"Line {number} needs '{entry.required[0]}' ({entry.where}), which has words outside the "
                    f"vocabulary of the translator: use another translation, or one of subwords."
                )
            able = {
                one: tokens
                for one, tokens in known.items()
                if not any(_is_within(other, form) for other in forbidden for form in tokens)
            }
            if known and not able:
                first = next(iter(known.values()))[0]
                other = next(other for form, other in forbidden.items() if _is_within(form, first))
                raise DataError(
                    f"Line {number} needs '{entry.required[0]}' ({entry.where}), which is forbidden there "
                    f"({other.where}): leave out one of the two."
                )
            if able:
                allowed = frozenset(token for of_one in able.values() for form in of_one for token in form)
                required.append(RequiredTerm(entry.source, tuple(able), allowed, row.masked.text[start:end], start))
        return row._replace(required=tuple(required), forbidden=tuple(forbidden))

    def _forms(self, text: str, where: str, capital: bool) -> list[Form]:
        """Return a form as tokens, as it is written, and with a capital where one may be.

        Raises DataError for one without a token.
        """
        if not self._target.encode(text):
            raise DataError(f"The term {text!r} ({where}) has no character that is written: leave it out.")
        texts = dict.fromkeys((text, text[:1].upper() + text[1:]) if capital else (text,))
        space = " " if self._space is not None else ""
        return [tuple(self._target.encode(space + one)) for one in texts]


def _demand_room(row: SentenceRequest, number: int) -> None:
    """Raise DataError where the longest translation lacks room for its prefix, suffix and placeholders."""
    given = {"a prefix": row.prefix, "a suffix": row.suffix}
    tokens = sum(map(len, given.values()))
    room = row.max_length - len(row.masked.units) - 1
    if tokens and tokens > room:
        raise DataError(
            f"Line {number} has {' and '.join(name for name, ids in given.items() if ids)} of "
            f"{inflect(tokens, 'token')}, but its translation has room for {max(0, room):,} beside all else that "
            f"it must contain: shorten what is given."
        )


def _is_whole(text: str, start: int, end: int) -> bool:
    """True if no word goes on at either end of a part of a text."""
    return not any(is_glued(text[place - 1 : place]) and is_glued(text[place : place + 1]) for place in (start, end))


def _is_within(one: Form, other: Form) -> bool:
    """True if a form is a part of another."""
    return any(other[place : place + len(one)] == one for place in range(len(other) - len(one) + 1))


def _ends_in(form: Form, suffix: Form) -> bool:
    """True if a form that began in front of a suffix would end in it."""
    tails = (form[start:] for start in range(1, len(form)))
    return any(suffix[: len(tail)] == tail[: len(suffix)] for tail in tails)


@_once
def banned_tokens_of(target: Tokenizer) -> tuple[int, ...]:
    """Return the tokens that are never written: marks, tags, and those that only stand for placeholders."""
    reserved = (number for number, piece in enumerate(spellings(target)) if not set(RESERVED).isdisjoint(piece))
    return (*target.unwritten, *reserved)


@_once
def adjacency_of(target: Tokenizer) -> Adjacency:
    """Return the tokens that make no word with a placeholder beside them."""
    of_words = isinstance(target, WordTokenizer)
    pieces = [one.removeprefix(JOINER) if of_words and one.startswith(JOINER) else one for one in spellings(target)]
    marked = [one.startswith(JOINER) or not of_words for one in spellings(target)]
    any_V = np.ones(len(pieces), bool)
    after_V = np.array(
        [
            number < len(MARKS) or not own or not _begins_glued(one)
            for number, (own, one) in enumerate(zip(marked, pieces, strict=True))
        ]
    )
    joins_V = np.array([own and one.startswith(JOINING) for own, one in zip(marked, pieces, strict=True)])
    return Adjacency(any_V if of_words or target.context_free else after_V, after_V, joins_V)


def can_spell(tokenizer: Tokenizer, text: str) -> bool:
    """True if a vocabulary has the tokens of a text; the bytes beside subwords are never learnt."""
    ids = tokenizer.encode(text)
    fallback = not isinstance(tokenizer, ByteTokenizer) and any(map(_BYTE.fullmatch, tokenizer.pieces(ids)))
    return UNK not in ids and not fallback


def _begins_glued(piece: str) -> bool:
    """True if a token begins with what makes one word with a letter before it."""
    if (match := _BYTE.fullmatch(piece)) is None:
        return is_glued(piece[:1])
    byte = int(match[1], 16)
    return is_glued(chr(byte)) if byte < 0x80 else byte in _LETTERS
