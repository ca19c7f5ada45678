"""Faults that a line of text shows by itself, or beside its translation."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from anaphora.text.placeholders import PATTERNS, USUAL, Kind
from anaphora.text.special_tokens import without_special_tokens

_PATTERNS = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "control": "(?P<code>[\x00-\x08\x0a-\x1f\x7f-\x84\x86-\x9f])",
        "separator": "(?P<code>[\x85\u2028\u2029])",
        "replacement": "(?P<code>\ufffd)",
        "mark": "(?P<code>\ufeff)",
        "invisible": "(?P<code>[\u00ad\u200b\u2060])",
        "entities": r"(?P<text>&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9A-Fa-f]{1,5});)",
        "subwords": r"(?P<text>\S@@(?: |$)|\u2581)",
        "unknown-mark": "<unk>",
        "tokenised": r"\w (?:,|\.(?:$| ))",
    }.items()
}
"""A pattern of each fault; its group is shown as a code point or as text."""

# the characters for the bytes 0x80 to 0xBF in Latin-1 and in Windows-1252
_WINDOWS = bytes(range(0x80, 0xA0)).decode("cp1252", "replace")
_BYTES = {ord(shown): byte for byte, shown in enumerate(_WINDOWS, 0x80) if shown != "\ufffd"}
_TRAIL = "\x80-\xbf" + "".join(map(chr, _BYTES))
_LONG = f"[\xe0-\xef][{_TRAIL}]{{2}}|[\xf0-\xf4][{_TRAIL}]{{3}}"
_MISREAD = re.compile(f"[\xc2-\xdf][{_TRAIL}]|{_LONG}")
_TELLING = re.compile(f"[\xc2\xc3][{_TRAIL}]|{_LONG}")

MIN_COPIED = 12
"""Length in characters of the shortest copy that counts: names are the same in many languages."""

_DIGIT = re.compile(r"\d")


def line_faults(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds of fault of a line, each once, and the first characters that show it."""
    for kind, pattern in _PATTERNS.items():
        if match := pattern.search(text):
            shown = match[match.lastgroup] if match.lastgroup else ""
            yield kind, f"U+{ord(shown):04X}" if match.lastgroup == "code" else shown
    if without_special_tokens(text) != text:
        yield "special-tokens", ""
    if not text.isascii():
        if not unicodedata.is_normalized("NFC", text):
            yield "decomposed", ""
        if misread := _misread(text):
            yield "mojibake", misread


def pair_faults(source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds of fault of a pair, each once, and what differs between its sides."""
    if source == target and len(source.strip()) >= MIN_COPIED and any(map(str.isalpha, source)):
        yield "copied", ""
    for one in differences(source, target):
        yield one.kind, str(one)


class Difference(NamedTuple):
    """Difference between a text and its translation in what they should have in common."""

    kind: str
    """``placeholders`` (tags among them), ``addresses`` or ``numbers``."""
    source: str
    """Items of the source alone, in order of its characters, separated by spaces."""
    target: str
    """Items of the translation alone."""

    def __str__(self) -> str:
        return " | ".join(side[:40] or "-" for side in (self.source, self.target))


def differences(source: str, target: str) -> Iterator[Difference]:
    """Yield the placeholders and tags, addresses and digits that are not the same on both sides, each kind once."""
    for kind, find in _IN_COMMON.items():
        first, second = Counter(find(source)), Counter(find(target))
        if first != second:
            yield Difference(kind, *(" ".join(sorted(rest.elements())) for rest in (first - second, second - first)))


def without_placeholders(text: str, kinds: Collection[Kind] = USUAL) -> str:
    """Return a text with spaces, as many, in the places of its placeholders, tags and addresses."""
    for kind in kinds:
        text = PATTERNS[kind].sub(lambda found: " " * len(found[0]), text)
    return text


_CURRENCIES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|RON|RUB|SEK|SGD|TRY|UAH|USD|ZAR"
_NUMBER = re.compile(
    r"(?<!\w)(?:\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?|(?:\d[- ]?){9}[Xx]|0x[\dA-Fa-f]+"
    r"|\d+(?:[.,]\d+)?[eE][-+]?\d+|\d+(?: ?[xX] ?\d+)+)(?!\w)"
    rf"|(?<![^\W\d_])(?:{_CURRENCIES})(?![^\W\d_])"
)
"""Numbers with letters: times and ISBNs, hexadecimal and scientific ones, sizes; and codes of currencies."""


def is_translatable(text: str, kinds: Collection[Kind] = USUAL) -> bool:
    """True if a text has a letter outside of numbers, placeholders, tags and addresses, or what ``kinds`` are kept."""
    if not any(map(str.isalpha, text)):
        return False
    text = without_placeholders(text, kinds)
    return any(map(str.isalpha, _NUMBER.sub(" ", text) if any(map(str.isnumeric, text)) else text))


def _digits(text: str) -> list[str]:
    """Return the digits of numbers, in any script, as 0 to 9: grouping and order differ between languages."""
    return [str(int(digit)) for digit in _DIGIT.findall(without_placeholders(text))]


def _finder(*kinds: Kind) -> Callable[[str], list[str]]:
    """Return a pattern that finds everything of these kinds in a text."""
    return lambda text: [match[0] for kind in kinds for match in PATTERNS[kind].finditer(text)]


_OPENED = re.compile(r"<[A-Za-z?%][^\s<>]*")
"""The beginning of what may be a tag."""


def _tags(text: str) -> list[str]:
    """Return the placeholders and tags of a text, and the beginnings of what is written like tags."""
    return [*_finder("placeholders", "tags")(text), *_OPENED.findall(without_placeholders(text))]


_IN_COMMON: Mapping[str, Callable[[str], list[str]]] = {
    "placeholders": _tags,
    "addresses": _finder("urls", "emails"),
    "numbers": _digits,
}


def _misread(text: str) -> str:
    """Return a sequence of characters whose bytes are UTF-8, or nothing.

    A single pair of accented capital and sign may be intended (É before a closing quotation mark); a pair that begins
    with Â or Ã, a sequence of three, or two pairs hardly are.
    """
    found = [match[0] for match in _MISREAD.finditer(text) if _is_utf8(match[0])]
    telling = next((sequence for sequence in found if _TELLING.fullmatch(sequence)), "")
    return telling or ("".join(found[:2]) if len(found) > 1 else "")


def _is_utf8(sequence: str) -> bool:
    try:
        sequence.translate(_BYTES).encode("latin-1").decode()
    except UnicodeError:
        return False
    return True
