"""Spans of tokens as tags: IOB1, IOB2 and BIOES (Ramshaw and Marcus 1995; Sang and Veenstra 1999).

A tag is ``O`` outside of spans, or a prefix, a hyphen and the span's type: ``B-PER``. ``I-`` is inside in all of them.

    IOB1    B- begins a span only right after another one of its type
    IOB2    B- begins every span
    BIOES   B- begins a span of several tokens and E- ends it; S- is a span of one token
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Encoding = Literal["iob1", "iob2", "bioes"]
"""How spans are written as tags."""

OUTSIDE = "O"
"""The tag outside of spans."""

PREFIXES: dict[Encoding, str] = {"iob1": "IB", "iob2": "BI", "bioes": "BIES"}
"""Every prefix of an encoding."""


class Span(NamedTuple):
    """Tokens that belong together."""

    start: int
    """The first token, from 0."""
    end: int
    """Past the last token."""
    type: str


class Tag(NamedTuple):
    """A tag as its prefix and the type of its span; type is empty outside."""

    prefix: str
    type: str


_BEYOND = Tag(OUTSIDE, "")
"""In front of a sentence and behind it."""


def parsed(tag: str, encoding: Encoding) -> Tag | None:
    """A tag's prefix and type; None where the encoding has no such tag."""
    if tag == OUTSIDE:
        return _BEYOND
    prefix, hyphen, type_ = tag.partition("-")
    return Tag(prefix, type_) if hyphen and type_ and len(prefix) == 1 and prefix in PREFIXES[encoding] else None


def may_follow(before: Tag, after: Tag, encoding: Encoding) -> bool:
    """Whether a tag may come right after another; ``Tag("O", "")`` also stands for both ends of a sentence."""
    same = before.type == after.type
    match encoding:
        case "iob1":
            return after.prefix != "B" or (before.prefix in "IB" and same)
        case "iob2":
            return after.prefix != "I" or (before.prefix in "BI" and same)
        case "bioes":
            unfinished, goes_on = before.prefix in "BI", after.prefix in "IE"
            return unfinished == goes_on and (same or not unfinished)


def first_fault(tags: Sequence[str], encoding: Encoding) -> int | None:
    """The first token of a sentence whose tag the encoding has not, or not there; the last where a span stays open."""
    before = _BEYOND
    for place, tag in enumerate(tags):
        now = parsed(tag, encoding)
        if now is None or not may_follow(before, now, encoding):
            return place
        before = now
    return None if may_follow(before, _BEYOND, encoding) else len(tags) - 1


def spans_of(tags: Sequence[str], encoding: Encoding) -> list[Span]:
    """The spans of a sentence, in their order.

    Strict: tags that do not make a whole span in this encoding (``I-`` without ``B-`` in IOB2, ``B-`` without ``E-`` in
    BIOES) make none.
    """
    spans: list[Span] = []
    start, before = -1, _BEYOND
    for place, tag in enumerate([*tags, OUTSIDE]):
        now = parsed(tag, encoding) or _BEYOND
        goes_on = start >= 0 and _goes_on(before, now, encoding)
        if start >= 0 and not goes_on:
            if _is_whole(before, now, encoding):
                spans.append(Span(start, place, before.type))
            start = -1
        if start < 0 and _begins(before, now, encoding):
            start = place
        before = now
    return spans


def _goes_on(before: Tag, now: Tag, encoding: Encoding) -> bool:
    """Whether a tag is in the span of the one before."""
    inside = "IE" if encoding == "bioes" else "I"
    return now.prefix in inside and before.prefix in "BI" and now.type == before.type


def _is_whole(before: Tag, now: Tag, encoding: Encoding) -> bool:
    """Whether a span whose last tag is ``before`` may end there; as seqeval's strict mode has it in faulty IOB1 too."""
    if encoding == "bioes":
        return before.prefix in "ES"
    return encoding == "iob2" or (before.prefix, now.prefix) != ("B", "B") or before.type == now.type


def _begins(before: Tag, now: Tag, encoding: Encoding) -> bool:
    """Whether a tag, which is not in the span of the one before, begins one."""
    if encoding == "iob1":
        return now.prefix == "I" or (now.prefix == "B" and may_follow(before, now, encoding))
    return now.prefix in ("B", "S")


def tags_of(spans: Iterable[Span], length: int, encoding: Encoding) -> list[str]:
    """The tags of a sentence of ``length`` tokens; spans are in order and do not overlap."""
    tags, end, type_ = [OUTSIDE] * length, -1, ""
    for span in spans:
        inside = [f"I-{span.type}"] * (span.end - span.start)
        if encoding == "iob2" or (encoding == "iob1" and span.start == end and span.type == type_):
            inside[0] = f"B-{span.type}"
        elif encoding == "bioes":
            inside[0], inside[-1] = f"B-{span.type}", f"E-{span.type}"
            if len(inside) == 1:
                inside = [f"S-{span.type}"]
        tags[span.start : span.end] = inside
        end, type_ = span.end, span.type
    return tags


def encoding_of(sentences: Iterable[Sequence[str]]) -> Encoding | None:
    """The encoding that all sentences keep to, IOB2 before the others; None where their tags are not of spans."""
    possible: list[Encoding] = ["iob2", "bioes", "iob1"]
    spans = False
    for tags in sentences:
        possible = [encoding for encoding in possible if first_fault(tags, encoding) is None]
        spans = spans or any(tag != OUTSIDE for tag in tags)
        if not possible:
            return None
    return possible[0] if spans and possible else None
