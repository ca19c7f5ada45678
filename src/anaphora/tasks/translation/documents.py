"""Documents translated: entries without a translation get one, and everything else stays byte for byte.

A text is translated between its inline codes, which stay in place. What would lose a placeholder, a tag or an address,
or has an unknown word, stays without a translation.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from anaphora.formats.entries.document import Document
from anaphora.formats.entries.entry import Entry
from anaphora.text.accelerators import Label, label
from anaphora.text.quality import differences, is_translatable
from anaphora.text.tokenizer import MARKS, UNK

Translate = Callable[[Sequence[str]], Iterable[str]]
"""From texts to their translations, in order."""

LOST = "whose placeholders, tags or addresses did not come back"
UNKNOWN = "with unknown words"
UNWRITABLE = "with characters that the encoding of the file lacks"
NO_TEXT = "that came back empty"
"""Why an entry stays without a translation."""

_FOLDED = frozenset(("html", "srt"))
"""Kinds whose line ends are white space."""
_ENDS = re.compile(r"(\A\s++|(?<!\s)\s++\Z)")
_LINES = re.compile(r"(\A\s++|(?<!\s)\s++\Z|(?<!\s)[^\S\r\n]*+[\r\n]\s*+)")


class Filled(NamedTuple):
    """A document with translations, and what became of its entries."""

    content: bytes
    entries: int
    """Entries that got a translation."""
    left: dict[str, list[int]]
    """The lines of those that got none, by the reason."""


def fill(document: Document, translate: Translate, language: str) -> Filled:
    """Fill the gaps of a document with translations into ``language``; each different text is translated once."""
    gaps = [(number, entry) for number, entry in enumerate(document.entries) if entry.gap]
    runs = {number: list(_runs(entry, document.kind)) for number, entry in gaps}
    texts = list(dict.fromkeys(text for parts in runs.values() for run in parts for text in run.texts()))
    translations = dict(zip(texts, translate(texts), strict=True)) if texts else {}
    filled: dict[int, list[str]] = {}
    left: dict[str, list[int]] = {}
    for number, entry in gaps:
        why = next((why for run in runs[number] if (why := run.fault(translations))), "")
        put = [run.put(translations, language) for run in runs[number]]
        if not why and not all(map(document.takes, put)):
            why = UNWRITABLE
        if why:
            left.setdefault(why, []).append(entry.line)
        else:
            filled[number] = put
    return Filled(document.filled(filled), len(filled), left)


class _Run:
    """A stretch of text: white space and lines in turn."""

    def __init__(self, text: str, kind: str) -> None:
        folded = kind in _FOLDED
        parts = (_ENDS if folded else _LINES).split(text)
        self._spaces = parts[1::2]
        self._labels = [label(" ".join(part.split()) if folded else part) for part in parts[::2]]

    def texts(self) -> Iterator[str]:
        """What is to be translated."""
        return (one.text for one in self._labels if is_translatable(one.text))

    def fault(self, translations: dict[str, str]) -> str:
        """Why its translation is not to be used; empty for a good one."""
        return next((why for text in self.texts() if (why := fault(text, translations[text]))), "")

    def put(self, translations: dict[str, str], language: str) -> str:
        """The stretch with translations."""
        lines = [_translated(one, translations, language) for one in self._labels]
        return "".join(piece for pair in zip(lines, [*self._spaces, ""], strict=True) for piece in pair)


def _runs(entry: Entry, kind: str) -> Iterator[_Run]:
    assert entry.gap is not None
    return (_Run(run.text, kind) for run in entry.gap.runs)


def _translated(one: Label, translations: dict[str, str], language: str) -> str:
    if one.text not in translations or not is_translatable(one.text):
        return one.marked(one.text, "")
    return one.marked(" ".join(translations[one.text].split()), language)


def fault(text: str, translation: str) -> str:
    """Why a translation of a text is not to be used; empty for one that may be."""
    if MARKS[UNK] in translation:
        return UNKNOWN
    if not translation.strip():
        return NO_TEXT
    lost = any(one.kind != _NUMBERS for one in differences(text, translation))
    return LOST if lost or _formats(text) != _formats(translation) else ""


_NUMBERS = "numbers"
"""What may be written otherwise in another language."""
_FORMAT = re.compile(r"%(\(\w+\)|\d+\$)?[-+#0]*+[\d*]*+(?:\.[\d*]+)?(?:hh?|ll?|[Lzjt])?+[A-Za-z%]?")


def _formats(text: str) -> tuple[list[str], list[str]]:
    """What a text has of printf, even before a letter: those that count by their order, and those with names."""
    found = list(_FORMAT.finditer(text))
    return [one[0] for one in found if not one[1]], sorted(one[0] for one in found if one[1])
