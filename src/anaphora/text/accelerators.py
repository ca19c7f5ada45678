"""Keys of menus and buttons in labels: ``_Open`` of GTK, ``&Open`` and ``E&xit`` of Qt, ``~Open`` of LibreOffice."""

import re
from typing import NamedTuple

from anaphora.languages import is_unspaced
from anaphora.text.quality import without_placeholders

_MARK = re.compile(r"(?:(?<![\w&_~%{</])|(?<!\w)[A-Z][a-z]*+(?=[&_~][a-z]))([&_~])(?=[^\W\d_])(?!\w+;)")
_ANY_MARK = re.compile(r"([&_~])(?=[^\W\d_])(?!\w+;)")
_LETTER = re.compile(r"(?<!\w)[^\W\d_]")
_WORDS, _FEW_WORDS = 8, 3
"""Words of a label at most, and of one whose key is within a word."""


class Label(NamedTuple):
    """A text without its accelerator."""

    text: str
    mark: str = ""
    """The sign before the key; empty for a text without."""
    key: str = ""

    def with_key(self, translation: str, language: str) -> str:
        """A translation into ``language`` with a key: the same letter where a word begins with it, else the first one.

        Where words are written without spaces, the key follows in brackets. A translation that has a key keeps it.
        """
        if not self.mark or self.mark in _ANY_MARK.findall(without_placeholders(translation)):
            return translation
        if is_unspaced(language):
            return f"{translation}({self.mark}{self.key.upper()})"
        letters = list(_LETTER.finditer(without_placeholders(translation)))
        same = [found for found in letters if found[0].casefold() == self.key.casefold()]
        at = next((found.start() for found in [*same, *letters]), None)
        return translation if at is None else f"{translation[:at]}{self.mark}{translation[at:]}"


def label(text: str) -> Label:
    """A text as a label: one that has just one such sign, before a word or inside a capitalized one, and few words."""
    found = list(_MARK.finditer(without_placeholders(text)))
    if len(found) != 1 or text.count(found[0][1]) != 1:
        return Label(text)
    at = found[0].start(1)
    if len(text.split()) > (_FEW_WORDS if at > found[0].start() else _WORDS):
        return Label(text)
    return Label(text[:at] + text[at + 1 :], found[0][1], text[at + 1])
