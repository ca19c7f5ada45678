"""Spans of tokens as tags: IOB1, IOB2 and BIOES (Ramshaw and Marcus 1995; Sang and Veenstra 1999).

A tag is ``O`` outside of spans, or a prefix, a hyphen and the span's type: ``B-PER``; or a prefix alone where all spans
are of one type. ``I-`` is inside in all of them.

    IOB1    B- begins a span only right after another one of its type
    IOB2    B- begins every span
    BIOES   B- begins a span of several tokens and E- ends it; S- is a span of one token. BILOU and BMES are the same
            with other letters
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from anaphora.errors import DataError

Encoding = Literal["iob1", "iob2", "bioes"]
"""Encodings of spans as tags."""

OUTSIDE = "O"
"""The tag outside of spans."""

ONE_TYPE = "span"
"""The name of the type of spans whose tags are prefixes alone."""

PREFIXES: dict[Encoding, str] = {"iob1": "IB", "iob2": "BI", "bioes": "BIES"}
"""Every prefix of an encoding."""

_OTHER_LETTERS = {"M": "I", "L": "E", "U": "S"}
"""Prefixes of BMES and BILOU as those of BIOES."""
_TYPED = re.compile(r"[BIESMLU][-_].+", re.IGNORECASE)
_BARE = frozenset("BIESMLU")


class Span(NamedTuple):
    """Tokens that belong together."""

    start: int
    """The first token, from 0."""
    end: int
    """Past the last token."""
    type: str
    """Empty where tags are prefixes alone."""


class Tag(NamedTuple):
    """A tag as its prefix and the type of its span; type is empty outside, and in tags that are prefixes alone."""

    prefix: str
    type: str


_BEYOND = Tag(OUTSIDE, "")
"""Tag in front of a sentence and behind it."""


TagsInPlace = tuple[Sequence[str], Callable[[int], str]]
"""The tags of a sentence, and from the number of a token to its place in the data."""


@lru_cache(1 << 16)
def split_tag(tag: str, encoding: Encoding) -> Tag | None:
    """Return a tag's prefix and type; None where the encoding has no such tag."""
    if tag == OUTSIDE:
        return _BEYOND
    prefix, hyphen, type_ = tag.partition("-")
    if encoding == "bioes":
        prefix = _OTHER_LETTERS.get(prefix, prefix)
    known = len(prefix) == 1 and prefix in PREFIXES[encoding] and bool(hyphen) == bool(type_)
    return Tag(prefix, type_) if known else None


def may_follow(before: Tag, after: Tag, encoding: Encoding) -> bool:
    """True if a tag may come right after another; ``Tag("O", "")`` also stands for both ends of a sentence."""
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
    """Return the first token of a sentence whose tag the encoding has not, or not there.

    The last where a span stays open.
    """
    before = _BEYOND
    for place, tag in enumerate(tags):
        now = split_tag(tag, encoding)
        if now is None or not may_follow(before, now, encoding):
            return place
        before = now
    return None if may_follow(before, _BEYOND, encoding) else len(tags) - 1


def spans_of(tags: Sequence[str], encoding: Encoding) -> list[Span]:
    """Return the spans of a sentence, in their order.

    Strict: tags that do not make a whole span in this encoding (``I-`` without ``B-`` in IOB2, ``B-`` without ``E-`` in
    BIOES) make none.
    """
    spans: list[Span] = []
    start, before = -1, _BEYOND
    for place, tag in enumerate([*tags, OUTSIDE]):
        now = split_tag(tag, encoding) or _BEYOND
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
    """True if a tag is in the span of the one before."""
    inside = "IE" if encoding == "bioes" else "I"
    return now.prefix in inside and before.prefix in "BI" and now.type == before.type


def _is_whole(before: Tag, now: Tag, encoding: Encoding) -> bool:
    """True if a span whose last tag is ``before`` may end there; as seqeval's strict mode has it in faulty IOB1 too."""
    if encoding == "bioes":
        return before.prefix in "ES"
    return encoding == "iob2" or (before.prefix, now.prefix) != ("B", "B") or before.type == now.type


def _begins(before: Tag, now: Tag, encoding: Encoding) -> bool:
    """True if a tag, which is not in the span of the one before, begins one."""
    if encoding == "iob1":
        return now.prefix == "I" or (now.prefix == "B" and may_follow(before, now, encoding))
    return now.prefix in ("B", "S")


def tags_of(spans: Iterable[Span], length: int, encoding: Encoding) -> list[str]:
    """Return the tags of a sentence of ``length`` tokens; spans are in order and do not overlap."""
    tags, end, type_ = [OUTSIDE] * length, -1, ""
    for span in spans:
        of = f"-{span.type}" if span.type else ""
        inside = [f"I{of}"] * (span.end - span.start)
        if encoding == "iob2" or (encoding == "iob1" and span.start == end and span.type == type_):
            inside[0] = f"B{of}"
        elif encoding == "bioes":
            inside[0], inside[-1] = f"B{of}", f"E{of}"
            if len(inside) == 1:
                inside = [f"S{of}"]
        tags[span.start : span.end] = inside
        end, type_ = span.end, span.type
    return tags


def encoding_of(sentences: Iterable[Sequence[str]]) -> Encoding | None:
    """Return the encoding that most sentences keep to, IOB2 before the others.

    None where most of the different tags are neither prefixes with a type nor prefixes alone, as of one type of span.
    """
    faulty, known = Counter[Encoding](), set[str]()
    for tags in sentences:
        known.update(tags)
        faulty.update(encoding for encoding in PREFIXES if first_fault(tags, encoding) is not None)
    typed, bare = sum(map(bool, map(_TYPED.fullmatch, known))), len(known & _BARE)
    are_bare = "B" in known and not known.isdisjoint("IEM")
    if 2 * max(typed, are_bare * bare) < max(1, len(known - {OUTSIDE})):
        return None
    order: tuple[Encoding, ...] = ("iob2", "bioes", "iob1")
    return min(order, key=faulty.__getitem__)


def check_tags(sentences: Iterable[TagsInPlace], encoding: Encoding, *, bars: bool) -> None:
    """Raise DataError at the first tag that the encoding does not have; with ``bars`` also at one barred there.

    Also where a few tags are of no type, unlike the others, or of one.
    """
    first: dict[str, str] = {}
    for tags, place_of in sentences:
        unknown = (number for number, tag in enumerate(tags) if split_tag(tag, encoding) is None)
        fault = first_fault(tags, encoding) if bars else next(unknown, None)
        if fault is not None:
            known = ", ".join((OUTSIDE, *(f"{prefix}-TYPE" for prefix in PREFIXES[encoding])))
            why = "does not allow there" if split_tag(tags[fault], encoding) else f"does not have ({known})"
            raise _fault(place_of(fault), tags[fault], f"which {encoding.upper()} {why}")
        first |= {tag: place_of(tags.index(tag)) for tag in {*tags} - first.keys() - {OUTSIDE}}
    for odd in min(([tag for tag in first if ("-" in tag) is typed] for typed in (True, False)), key=len):
        raise _fault(first[odd], odd, f"but others are {'not ' * ('-' in odd)}of a type")


def _fault(place: str, tag: str, why: str) -> DataError:
    return DataError(f"{place} has the tag '{tag}', {why}: correct it, or set spans = \"none\".")
