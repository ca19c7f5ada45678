r"""What a text is to a model: which characters are white space, which are nothing, and what has nothing to translate.

White space within a line is one space. What cannot be seen is nothing: control characters, soft hyphens, word joiners,
marks of byte order and direction. A zero-width space between words is a space, and nothing in scripts that set no
spaces. U+200C and U+200D stay beside letters that they shape (Persian, Indic scripts) and beside pictures.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space, but for the space."""
CONTROLS = "".join(code for code in map(chr, chain(range(32), range(127, 160))) if code not in SPACES)
UNSEEN = f"{CONTROLS}\xad\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064" + (
    "\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\ufeff\ufff9\ufffa\ufffb"
)
"""Characters without a shape or a width."""
BREAK, DOUBLE = "\u200b", "  "
_JOINERS = "\u200c\u200d"
_SPECIAL = frozenset(SPACES + UNSEEN + BREAK + _JOINERS)

_SHAPED = (
    "\u0600-\u109f\u1700-\u1cff\u2190-\u2bff\ua800-\uabff\ufb50-\ufdff\ufe0e\ufe0f\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e800-\U0001faff"
)
"""Arabic and related scripts, Indic ones, pictures, and the marks that make pictures."""
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_INSIDE = r"\s/\\_@#&=" + _UNSPACED
"""What a zero-width space beside is no space: it says where a long word or an address may be broken."""
_BETWEEN_WORDS = rf"(?<=[^(\[{{“„«¿¡{_INSIDE}-]){BREAK}+(?=[^.,;:!?…)\]}}”»%{_INSIDE}-])"


@dataclass(frozen=True)
class TextRule:
    """How the texts of one side are read; a run keeps the rule that it was begun with."""

    kept: frozenset[str] = frozenset()
    """Special characters that are read as they are, and ``DOUBLE`` for runs of spaces."""
    copies: bool = False
    """Whether a text without a word, such as a number, is its own translation."""

    @classmethod
    def restored(cls, table: Any) -> Self | None:
        """The rule that ``json`` wrote; None for anything else."""
        kept, copies = (table.get(key) for key in ("kept", "copies")) if isinstance(table, dict) else (None, None)
        known = isinstance(kept, list) and isinstance(copies, bool) and {*map(str, kept)} <= {*_SPECIAL, DOUBLE}
        return cls(frozenset(kept), copies) if known else None

    def json(self) -> dict[str, Any]:
        return {"kept": sorted(self.kept), "copies": self.copies}

    @cached_property
    def substitutions(self) -> list[tuple[str, str]]:
        """Patterns and what is put for them, in this order."""
        unseen, spaces = ("".join(code for code in some if code not in self.kept) for some in (UNSEEN, SPACES))
        found = (
            (f"[{unseen}]", "", unseen),
            (rf"(?<![{_SHAPED}])[{_JOINERS}](?![{_SHAPED}])", "", self.kept.isdisjoint(_JOINERS)),
            (_BETWEEN_WORDS, " ", BREAK not in self.kept),
            (BREAK, "", BREAK not in self.kept),
            (f"[{spaces}]", " ", spaces),
            (f"{DOUBLE}+", " ", DOUBLE not in self.kept),
        )
        return [(pattern, put) for pattern, put, applies in found if applies]

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), put) for pattern, put in self.substitutions]

    def plain(self, text: str) -> str:
        """A text as a model reads it."""
        if text.isprintable() and DOUBLE not in text:
            return text
        for pattern, put in self._compiled:
            text = pattern.sub(put, text)
        return text


def special_in(texts: Iterable[str]) -> frozenset[str]:
    """The special characters of texts, and ``DOUBLE`` where some have runs of spaces."""
    found = set[str]()
    for text in texts:
        if not text.isprintable() or DOUBLE in text:
            found |= _SPECIAL.intersection(text)
            found |= {DOUBLE} if DOUBLE in text else set()
    return frozenset(found)


def are_converted(sources: Iterable[str], targets: Iterable[str]) -> bool:
    """True if pairs teach to translate numbers: one in a hundred has digits without a letter, and another target."""
    count = converted = 0
    for source, target in zip(sources, targets, strict=False):
        count += 1
        if not any(map(str.isalpha, source)) and any(map(str.isnumeric, source)):
            converted += source.split() != target.split()
    return 100 * converted > count


_CURRENCIES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|RON|RUB|SEK|SGD|TRY|UAH|USD|ZAR"
_NUMBER = re.compile(
    r"(?<!\w)(?:\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?|(?:\d[- ]?){9}[Xx]|0x[\dA-Fa-f]+"
    r"|\d+(?:[.,]\d+)?[eE][-+]?\d+|\d+(?: ?[xX] ?\d+)+)(?!\w)"
    rf"|(?<![^\W\d_])(?:{_CURRENCIES})(?![^\W\d_])"
)
"""Numbers with letters: times and ISBNs, hexadecimal and scientific ones, sizes; and codes of currencies."""


def has_words(text: str, kept: Collection[re.Pattern[str]] = ()) -> bool:
    """True if a text has a letter outside of numbers and of what ``kept`` matches."""
    if not any(map(str.isalpha, text)):
        return False
    for pattern in kept:
        text = pattern.sub(lambda found: " " * len(found[0]), text)
    if any(map(str.isnumeric, text)):
        text = _NUMBER.sub(" ", text)
    return any(map(str.isalpha, text))
