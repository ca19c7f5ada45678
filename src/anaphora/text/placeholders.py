"""Parts of a text that no translation may change: placeholders, tags, addresses and, on request, numbers and names.

Each kind is a pattern of one table, which the data check reads too. Every pattern takes time in proportion to the text.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import Literal, NamedTuple, get_args

import regex

from anaphora.errors import ConfigError

Kind = Literal["placeholders", "tags", "urls", "emails", "numbers", "names"]
"""Kinds of text that can be protected."""

KINDS: tuple[Kind, ...] = get_args(Kind)
USUAL: tuple[Kind, ...] = ("placeholders", "tags", "urls", "emails")
"""The kinds that no translation should change; numbers are written otherwise in other languages, and some names are."""
CERTAIN: tuple[Kind, ...] = (*USUAL, "numbers")
"""The kinds that are what their pattern says: a name is any word with a capital within a sentence."""

_CODE = r"<(?:\?(?:[^?<]++|\?(?!>)|<(?![?%]))*+\?|%(?:[^%<]++|%(?!>)|<(?![?%]))*+%)>"
"""Code of PHP or a template language, which may hold quotes, but no other code."""

PATTERNS: Mapping[Kind, regex.Pattern[str]] = {
    "tags": regex.compile(
        r"</?(?:[A-Za-z][\w:.-]*+|\d++(?=\s*+/?>))"  # numbers: react-i18next
        r"(?:\s++[^\s\"'<>/=]++(?:\s*+=\s*+(?:\\*+\"(?:[^\"<]++|"
        rf"{_CODE})*+\"|\\*+'(?:[^'<]++|{_CODE})*+'|[^\s\"'<>]++))?+)*+\s*+/?>"
    ),
    "urls": regex.compile(r"(?:https?://|ftp://|\bwww\.)[^\s<>\"]*[\w/]"),
    "emails": regex.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "placeholders": regex.compile(
        rf"{_CODE}|\{{\{{\{{[^{{}}]*+\}}\}}\}}|\{{\{{[^{{}}]*+\}}\}}|[$#]\{{[^{{}}]*+\}}"
        r"|%[A-Za-z_]\w+%|%\{\w+\}|\$\([\w.]+\)|\$[A-Za-z_]\w*"  # Windows, Ruby, shells, PHP
        r"|%(?:\(\w+\)|<\w+>|\d+\$)?[-+#0']*+(?:\d++|\*)?(?:\.(?:\d++|\*))?"  # printf, Python, Ruby, Objective-C
        r"(?:[sdifuxXcgeo@](?:(?!\w)|(?<!\d%[a-z]))|(?:hh?|ll?|[Lqjzt])?[diouxXeEfFgGaAcsSp](?!\w)|<PRI\w+>)"
        r"|(?<!\d)(?<!\d )% [dif](?!\w)|%%|%L?(?:n|[1-9]\d?)(?![\w%])"  # Qt, KDE
        r"|[$#]?\{{1,3} ?[^\s{},]*+(?:, ?[^\s{},]*+)*+ ?\}{1,3}"  # templates, Python, ICU, Fluent
        r"|(?<![^\s\"'(\[\u2018\u201c])--[a-z][a-z\d]*+(?:-[a-z\d]++)*+"  # options of programs
        r"|\[[A-Z]\d+[A-Z]\]"  # Weblate
    ),
    "numbers": regex.compile(r"(?<![\w.,])\d++(?:[.,:]\d++)*+(?!\w)"),
    "names": regex.compile(r"(?<=[\p{L}\p{N},;] )(?:\p{Lu}\p{L}[\p{L}\p{M}-]*+(?: (?=\p{Lu}\p{L}))?+)++(?<! )"),
}
"""Patterns in the order in which they are found: what a tag holds is part of the tag."""

RESERVED = tuple(map(chr, range(0xFFF00, 0xFFF08)))
"""Words that stand for placeholders in training pairs (``data.placeholders``): private characters that no text has."""

_GLUED = regex.compile(r"(?V1)[\w--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]]")
_BETWEEN = 3
"""Signs between two placeholders that are still one with them, as in ``%d:%d``, at most."""


def is_glued(character: str) -> bool:
    """True if a character makes one word with what it stands beside: a letter or digit, not of an unspaced script."""
    return bool(_GLUED.match(character))  # none of no character


class Span(NamedTuple):
    """One thing to be kept, and where it stands."""

    start: int
    end: int
    tag: bool
    """True if it is a tag, which is no word of its sentence."""


def checked_kinds(kinds: Iterable[str]) -> tuple[Kind, ...]:
    """Return the same kinds; ConfigError for one that is none."""
    found = []
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(
                f"What is protected should be some of {', '.join(KINDS)}, but one is {kind!r}: correct it."
            )
        found.append(kind)
    return tuple(found)


def spans(text: str, kinds: Collection[Kind], is_new: Callable[[str], bool] = bool) -> list[Span]:
    """Return the spans of a text that are kept, in order; of names those with a word that is new.

    Letters that a placeholder is written together with (``{0}px``) are kept with it, and so are other placeholders
    with nothing but signs between (``%d:%d``), except in scripts that set no spaces.
    """
    if not kinds:
        return []
    found = {kind: [match.span() for match in PATTERNS[kind].finditer(text)] for kind in PATTERNS if kind in kinds}
    if names := found.pop("names", []):
        # in a heading any word has a capital
        few = 2 * sum(end - start for start, end in names) <= len(text)
        found["names"] = [(start, end) for start, end in names if few and any(map(is_new, text[start:end].split()))]
    tags = [Span(start, end, True) for start, end in found.pop("tags", [])]
    if not any(found.values()):
        return tags
    of_tags = bytearray(len(text))
    for start, end, _ in tags:
        of_tags[start:end] = b"\1" * (end - start)
    words: list[Span] = []
    for start, end in sorted(chain(*found.values())):
        if 1 not in of_tags[start:end]:
            one = _glue(text, start, end, of_tags)
            if words and _are_one(text, words[-1], one, of_tags):
                before = words.pop()
                one = before._replace(end=max(before.end, one.end))
            words.append(one)
    return sorted([*tags, *words])


def _glue(text: str, start: int, end: int, of_tags: bytearray) -> Span:
    """Return a placeholder with the letters beside it."""
    while start and not of_tags[start - 1] and is_glued(text[start - 1]):
        start -= 1
    while end < len(text) and not of_tags[end] and is_glued(text[end]):
        end += 1
    return Span(start, end, False)


def _are_one(text: str, first: Span, second: Span, of_tags: bytearray) -> bool:
    """True if two placeholders overlap, or have only signs between them."""
    between = text[first.end : second.start]
    signs = len(between) <= _BETWEEN and not any(sign.isspace() or sign.isalnum() for sign in between)
    return signs and 1 not in of_tags[first.end : second.start]
