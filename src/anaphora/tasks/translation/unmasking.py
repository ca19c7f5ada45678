"""A translation as text, with what was kept of its source: placeholders where the model wrote them, and tags."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from anaphora.tasks.translation.tag_places import Put, Weights, balanced, diagonal, put_tags
from anaphora.text.masking import MaskedSpan, Tag
from anaphora.text.placeholders import is_glued
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer, shown
from anaphora.text.words import WordTokenizer

_MARK = 0x100000
"""The first of the characters for private use that stand where a placeholder is to be put."""
_APOSTROPHES = "'\u2019"
"""Signs after which a word goes on, as in ``l'eau``."""
_NEAR = 40
"""Characters within which a token is looked for in the text."""


class Token(NamedTuple):
    """A piece of a translation, and where it is in the text."""

    piece: str
    start: int
    end: int
    step: int
    """The step that wrote it; -1 for what is kept without one."""


def text_of(target: Tokenizer, ids: Sequence[int], words: Sequence[str], units: Sequence[MaskedSpan]) -> str:
    """The text of tokens, of which those behind the vocabulary are ``units``; one that is missing comes last.

    ``words`` take the places of the unknown words, in their order; what they do not reach stays unknown.
    """
    return _put_in(_marked(target, ids, words, units), units)


def tokens_of(pieces: Sequence[str], text: str, kept: Mapping[int, str]) -> list[Token]:
    """The tokens of a text by their pieces.

    ``kept`` are placeholders, by the step of the token that is one.
    """
    place, tokens, lost = 0, list[Token](), list[int]()
    for step, piece in enumerate(pieces):
        surface = kept.get(step, piece.strip(SPACE) or piece.replace(SPACE, " "))
        start = text.find(surface, place, place + len(surface) + _NEAR)
        if start < 0:
            lost.append(step)
            tokens.append(Token(piece, place, place, step))
            continue
        if step in kept:
            piece = (SPACE if start == 0 or text[start - 1 : start] == " " else "") + shown(surface)
        _find_lost(tokens, lost, text, start)
        place = start + len(surface)
        tokens.append(Token(piece, start, place, step))
    _find_lost(tokens, lost, text, len(text))
    return in_words(tokens)


def in_words(tokens: Iterable[Token]) -> list[Token]:
    """The tokens, those that hold spaces as several of the same step."""
    found = list[Token]()
    for token in tokens:
        first, *others = token.piece.split(" ")
        found.append(token._replace(piece=first))
        found += (Token(SPACE + other, token.end, token.end, token.step) for other in others)
    return found


def _find_lost(tokens: list[Token], lost: list[int], text: str, end: int) -> None:
    """Give the first of the tokens that were not found what is left of the text: what they spell in bytes."""
    if lost:
        start = tokens[lost[0]].start
        rest = text[start:end]
        start += len(rest) - len(rest.lstrip())
        tokens[lost[0]] = tokens[lost[0]]._replace(start=start, end=start + len(rest.strip()))
        for step in lost[1:]:
            tokens[step] = tokens[step]._replace(start=start + len(rest.strip()), end=start + len(rest.strip()))
        lost.clear()


def with_tags(
    text: str,
    tokens: Sequence[Token],
    tags: Sequence[Tag],
    before: Sequence[int],
    source: int,
    weights_TS: Weights | None,
) -> tuple[str, list[Token]]:
    """A text and its tokens with the tags of its source, each with the number of source tokens ``before`` it.

    ``source`` counts these tokens. Weights are those of both sides without ``</s>``, None for a model without
    attention.
    """
    seen = _visible(tokens, text)
    spans = [(token.start, token.end) for token in seen]
    if weights_TS is None:
        weights_TS = diagonal(len(seen), source)
    else:
        weights_TS = balanced(weights_TS[[token.step for token in seen]])
    inner = [number for number in range(1, len(spans)) if not _in_word(text, spans[number - 1][1], spans[number][0])]
    boundaries = [0, *inner, len(spans)] if spans else [0]
    return _composed(text, tokens, spans, put_tags(tags, before, weights_TS, boundaries), tags)


def with_own_tags(
    text: str, tokens: Sequence[Token], tags: Sequence[Tag], places: Sequence[int]
) -> tuple[str, list[Token]]:
    """A source without its tags and its tokens, with them, each where it is."""
    spans = [(token.start, token.end) for token in _visible(tokens, text)]
    put = [Put(sum(end <= place for _, end in spans), number) for number, place in enumerate(places)]
    return _composed(text, tokens, spans, put, tags)


def around(before: str, text: str, tokens: Sequence[Token], after: str) -> tuple[str, list[Token]]:
    """A text and its tokens between what stays around them."""
    if not before and not after:
        return text, list(tokens)
    found = [*tokens_kept(before), *(_moved(token, len(before)) for token in tokens)]
    return before + text + after, [*found, *tokens_kept(after, before + text)]


def respaced(tokens: Sequence[Token], text: str) -> list[Token]:
    """The tokens with their spaces as they are in a text."""
    found, place = list[Token](), 0
    for token in tokens:
        bare = token.piece.strip(SPACE)
        start = text.find(bare, place, place + len(bare) + _NEAR) if bare else -1
        if start >= 0:
            spaced = start == 0 or " " in text[place:start]
            place = start + len(bare)
        else:
            spaced = (place == 0 and bool(bare)) or text.startswith(" ", place)
            place += text.startswith(" ", place)
        found.append(token._replace(piece=SPACE * spaced + bare))
    return found


def _marked(target: Tokenizer, ids: Sequence[int], words: Sequence[str], units: Sequence[MaskedSpan]) -> str:
    """The text with a mark for each placeholder."""
    size = target.symbols.size
    marks = {step: chr(_MARK + number - size) for step, number in enumerate(ids) if number >= size}
    if isinstance(target, WordTokenizer):
        known = [UNK if step in marks else number for step, number in enumerate(ids)]
        given = iter(words)
        filled = [marks.get(step) or next(given, MARKS[UNK]) for step, number in enumerate(known) if number == UNK]
        text = target.filled(known, filled)
    else:
        text = _spliced(target, ids, marks, units)
    missing = [mark for mark in (chr(_MARK + place) for place in range(len(units))) if mark not in text]
    return " ".join([text, *missing] if text else missing)


def _spliced(target: Tokenizer, ids: Sequence[int], marks: Mapping[int, str], units: Sequence[MaskedSpan]) -> str:
    """Tokens that spell words, and between them the marks, with a space where a word would be mutilated."""
    text, start = "", 0
    for step, mark in sorted(marks.items()):
        text = _behind(text, target, ids[start:step])
        unit = units[ord(mark) - _MARK]
        sign = text[-1:]
        elided = sign in _APOSTROPHES and is_glued(text[-2:-1])
        if sign.strip() and not elided and (is_glued(sign) or (unit.spaced and target.context_free)):
            text += " "
        text, start = text + mark, step + 1
    return _behind(text, target, ids[start:])


def _behind(text: str, target: Tokenizer, ids: Sequence[int]) -> str:
    """A text and the tokens behind it."""
    more = target.decode(ids)
    apart = text and more and (target.pieces(ids)[0].startswith(SPACE) or is_glued(more[0]))
    return f"{text} {more}" if apart and not more.startswith(" ") else text + more


def _visible(tokens: Sequence[Token], text: str) -> list[Token]:
    return [token for token in tokens if token.end > token.start and text[token.start] != " "]


def _put_in(text: str, units: Sequence[MaskedSpan]) -> str:
    """The text with placeholders for their marks."""
    return text.translate({_MARK + place: unit.text for place, unit in enumerate(units)}) if units else text


def _in_word(text: str, before: int, after: int) -> bool:
    """True if a word goes on between two tokens, the one ending at ``before`` and the other beginning at ``after``."""
    return before == after and is_glued(text[before - 1]) and is_glued(text[after])


def _composed(
    text: str, tokens: Sequence[Token], spans: Sequence[tuple[int, int]], put: Sequence[Put], tags: Sequence[Tag]
) -> tuple[str, list[Token]]:
    """The text with the tags at their boundaries, and all tokens with their new places."""
    composed, place, found = "", 0, list[Token]()
    rest = list(tokens)
    for boundary, group in groupby(put, key=lambda one: one.boundary):
        end = spans[boundary - 1][1] if boundary else 0
        start = spans[boundary][0] if boundary < len(spans) else len(text)
        while rest and rest[0].end <= end:
            found.append(_moved(rest.pop(0), len(composed) - place))
        composed += text[place:end]
        spaced, behind = _spaced([tags[one.tag] for one in group], text[end:start])
        for space, tag in spaced:
            composed += space
            found += tokens_kept(tag, composed)
            composed += tag
        composed += behind
        place = start
    found += [_moved(token, len(composed) - place) for token in rest]
    composed += text[place:]
    return composed, found


def _spaced(tags: Sequence[Tag], gap: str) -> tuple[list[tuple[str, str]], str]:
    """Tags that share a boundary, each with the white space in front of it, and the white space behind the last.

    The ``gap`` that is there goes to where it is in the source: outside of what a pair encloses, around or without.
    """
    found: list[tuple[str, str]] = []
    pending, used = "", False
    for tag in tags:
        left, right = tag.spaced
        alone = tag.partner < 0
        if not left and not right and not alone:
            left, right = tag.text[1] != "/", tag.text[1] == "/"
        space, pending = pending, ""
        if left and not used:
            space, used = gap, True
        found.append((space, tag.text))
        pending = gap if left and right else ""
        used = used or (alone and not left and not right)
    return found, pending if used else gap


def tokens_kept(text: str, composed: str = "") -> Iterator[Token]:
    """Yield what is kept as tokens without spaces; it goes behind what is composed."""
    place = len(composed)
    for word in text.split(" "):
        space = SPACE if place > len(composed) or composed[-1:] in ("", " ") else ""
        if word:
            yield Token(space + shown(word), place, place + len(word), -1)
        place += len(word) + 1


def _moved(token: Token, by: int) -> Token:
    return token._replace(start=token.start + by, end=token.end + by)
