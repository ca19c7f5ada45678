"""Mask spans that translation must keep; ``tasks.translation.unmasking`` restores them.

Placeholders, addresses and numbers are words of their sentence: a stand-in takes the place of each. Tags are none:
they are taken out, and what they enclose stays. Tags around all of a sentence stay around all of it.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise, zip_longest
from typing import NamedTuple

import regex

from anaphora.text.placeholders import Kind, Span, spans
from anaphora.text.sentences import Passage, Splitter

JOINING = tuple("-\u2010\u2011\u2013_'\u2019")
"""Signs that make one word of what is around them."""
_NAME = regex.compile(r"[\w:.-]+")


_WORD, _QUOTE = "Xxx", '"'
"""Stand-ins of placeholders and tags for a splitter of sentences: words, and quotes that open or close."""


class Placeholder(NamedTuple):
    """Word that stands for a kept span."""

    word: str
    """Word in the source."""
    token: int
    """Token in the output: its id in the vocabulary of the target."""


class MaskedSpan(NamedTuple):
    """A placeholder, address or number, and where its stand-in is."""

    text: str
    start: int
    end: int
    stand_in: Placeholder
    spaced: bool
    """True if white space is in front of it, or nothing."""
    joined: bool
    """True if a sign that joins words is directly behind it, as in ``{color}-haired``."""


class Tag(NamedTuple):
    """A tag that was taken out."""

    text: str
    place: int
    """Place in the text without tags."""
    partner: int
    """Index of the tag that it opens or closes; -1 where there is none."""
    spaced: tuple[bool, bool]
    """True if white space is in front of it, and behind it."""


@dataclass(frozen=True)
class MaskedText:
    """Sentence with its kept spans masked; ``before`` and ``after`` stay around its translation."""

    sentence: str
    before: str
    text: str
    """Text to translate, stand-ins included; empty where there is nothing to translate."""
    after: str
    units: tuple[MaskedSpan, ...] = ()
    tags: tuple[Tag, ...] = ()
    kept: frozenset[str] = frozenset()
    """Texts of all kept spans that are not in ``text`` too."""


def split_around(splitter: Splitter, text: str, kinds: Collection[Kind]) -> Passage:
    """Return the sentences of a text, none of which ends within what is kept."""
    found = spans(text, kinds)
    if not found:
        return splitter.split(text)
    masked, begins = "", list[int]()
    for before, one in zip(_texts_between(text, found, 0, len(text)), found, strict=False):
        masked += before
        begins.append(len(masked))
        masked += _QUOTE if one.tag else _WORD
    passage = splitter.split(masked + text[found[-1].end :])

    def place(masked: int) -> int:
        """Return the place in the text of one in the masked text."""
        passed = bisect_left(begins, masked)
        if not passed:
            return masked
        one = found[passed - 1]
        return one.end + masked - begins[passed - 1] - len(_QUOTE if one.tag else _WORD)

    ends = list(accumulate(map(len, chain.from_iterable(zip_longest(passage.gaps, passage.sentences, fillvalue="")))))
    parts = [text[start:end] for start, end in pairwise([0, *map(place, ends)])]
    return Passage(tuple(parts[1::2][: len(passage.sentences)]), tuple(parts[::2]))


def mask(sentence: str, found: Sequence[Span], stand_ins: Sequence[Placeholder]) -> MaskedText:
    """Return a sentence with what ``spans`` found in it masked; all of it is ``text`` where that is nothing.

    Stand-ins are those that the sentence does not contain already, in turn; it may have more placeholders than these.
    """
    if not found:
        return MaskedText(sentence, "", sentence, "")
    partners = tag_partners(sentence, found)
    first, last, start, end = _peel(sentence, found, partners)
    inner = sentence[start:end]
    start += len(inner) - len(inner.lstrip())
    end -= len(inner) - len(inner.rstrip())
    within = found[first:last]
    if not any(map(str.isalpha, "".join(_texts_between(sentence, within, start, end)))):
        return MaskedText(sentence, sentence, "", "")
    free = [one for one in stand_ins if one.word.casefold() not in sentence.casefold()] or stand_ins
    masked = _make_masked(
        sentence, within, [partners.get(place, -1) - first for place in range(first, last)], (start, end), free
    )
    kept = {sentence[one.start : one.end] for one in found}
    return replace(masked, kept=frozenset(one for one in kept if one not in masked.text))


def _texts_between(sentence: str, found: Sequence[Span], start: int, end: int) -> Iterator[str]:
    """Yield the texts between the things that are kept."""
    for one in found:
        yield sentence[start : one.start]
        start = one.end
    yield sentence[start:end]


def _make_masked(
    sentence: str, found: Sequence[Span], partners: Sequence[int], inner: tuple[int, int], free: Sequence[Placeholder]
) -> MaskedText:
    text, units, tags = "", list[MaskedSpan](), list[Tag]()
    places: dict[int, int] = {}  # of tags among what is found
    texts = _texts_between(sentence, found, *inner)
    for place, (one, before) in enumerate(zip(found, texts, strict=False)):
        text = _join(text, before, bool(tags) and found[place - 1].tag)
        kept = sentence[one.start : one.end]
        spaced = tuple(
            not sign.strip() for sign in (sentence[max(0, one.start - 1) : one.start], sentence[one.end :][:1])
        )
        if one.tag:
            places[place] = len(tags)
            tags.append(Tag(kept, len(text), partners[place], (spaced[0], spaced[1])))
            if partners[place] < 0 and not any(spaced):
                text += " "  # as a line break would
        else:
            stand_in = free[len(units) % len(free)]
            end, joined = len(text) + len(stand_in.word), sentence.startswith(JOINING, one.end)
            units.append(MaskedSpan(kept, len(text), end, stand_in, spaced[0], joined))
            text += stand_in.word
    text = _join(text, next(texts), bool(tags) and found[-1].tag)
    paired = tuple(tag._replace(partner=places.get(tag.partner, -1)) for tag in tags)
    return MaskedText(sentence, sentence[: inner[0]], text, sentence[inner[1] :], tuple(units), paired)


def _join(text: str, more: str, after_tag: bool) -> str:
    """Texts around a tag joined, with one space for two."""
    return text + (more.removeprefix(" ") if after_tag and (not text or text.endswith(" ")) else more)


def tag_partners(sentence: str, found: Sequence[Span]) -> dict[int, int]:
    """Return the pairs of opening and closing tags, well nested, both ways, by their places in what is found."""
    opened: list[tuple[str, int]] = []
    partners: dict[int, int] = {}
    for place, one in enumerate(found):
        text = sentence[one.start : one.end]
        if not one.tag or text.endswith("/>"):
            continue
        match = _NAME.search(text)
        name = match[0].lower() if match else ""
        if not text.startswith("</"):
            opened.append((name, place))
        elif any(other == name for other, _ in opened):
            while opened[-1][0] != name:
                opened.pop()
            _, other = opened.pop()
            partners[place], partners[other] = other, place
    return partners


def _peel(sentence: str, found: Sequence[Span], partners: dict[int, int]) -> tuple[int, int, int, int]:
    """Return the range of spans without tags around the whole sentence, and the range of the text that is left."""
    first, last, start, end = 0, len(found), 0, len(sentence)
    while first < last:
        head, tail = found[first], found[last - 1]
        at_head = head.tag and not sentence[start : head.start].strip()
        at_tail = tail.tag and not sentence[tail.end : end].strip()
        if at_head and first not in partners:
            first, start = first + 1, head.end
        elif at_tail and last - 1 not in partners:
            last, end = last - 1, tail.start
        elif at_head and at_tail and partners[first] == last - 1:
            first, last, start, end = first + 1, last - 1, head.end, tail.start
        else:
            break
    return first, last, start, end
