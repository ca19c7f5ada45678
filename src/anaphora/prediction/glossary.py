"""Terms of a glossary in the source of a translation."""

from collections.abc import Iterable
from typing import NamedTuple

import regex

from anaphora.formats.glossary import ANY, GlossaryEntry
from anaphora.text.placeholders import is_glued
from anaphora.text.scripts import UNSPACED_LETTER

WORD = regex.compile(rf"(?V1)[\w--{UNSPACED_LETTER}]+|\S")
"""A word, or a character of a script without spaces."""


class Match(NamedTuple):
    """An entry, and where a source has it."""

    entry: GlossaryEntry
    capital: bool
    """True if it begins with a capital there, as at the start of a sentence."""
    start: int
    end: int


class Glossary:
    """Entries by how their source forms begin; the translations of several with the same one are alternatives.

    A form without capitals is found in any case, another as it is written; of several at one place, the longest is.
    """

    def __init__(self, entries: Iterable[GlossaryEntry]) -> None:
        self.entries = tuple(entries)
        self._always = [Match(entry, False, 0, 0) for entry in self.entries if entry.source == ANY]
        self._by_start: dict[str, list[GlossaryEntry]] = {}
        merged: dict[str, GlossaryEntry] = {}
        for entry in self.entries:
            known = merged.get(entry.source, entry)
            merged[entry.source] = known._replace(
                required=tuple(dict.fromkeys((*known.required, *entry.required))),
                forbidden=tuple(dict.fromkeys((*known.forbidden, *entry.forbidden))),
            )
        for entry in sorted(merged.values(), key=lambda entry: -len(entry.source)):
            if entry.source != ANY and (start := WORD.search(entry.source)):
                self._by_start.setdefault(start[0].lower(), []).append(entry)

    def __str__(self) -> str:
        return f"a glossary of {len(self.entries):,}"

    def of(self, text: str) -> list[Match]:
        """Return the entries that a text has, wherever it has them."""
        found = list[Match]()
        for word in WORD.finditer(text):
            if not found or word.start() >= found[-1].end:
                found += self._at(text, word)
        return [*found, *self._always]

    def _at(self, text: str, word: "regex.Match[str]") -> list[Match]:
        """Return the entries of the longest form that begins with a word, or those of them that are written so."""
        start, longest, found = word.start(), 0, list[Match]()
        for entry in self._by_start.get(word[0].lower(), ()):
            end = start + len(entry.source)
            written = text[start:end]
            same = written == entry.source or (written.lower() == entry.source and entry.source.islower())
            if same and len(entry.source) >= longest and not _goes_on(text, end):
                longest = len(entry.source)
                found.append(Match(entry, written[:1].isupper(), start, end))
        return [one for one in found if one.entry.source == text[one.start : one.end]] or found


def _goes_on(text: str, end: int) -> bool:
    """True if a word goes on there."""
    return 0 < end < len(text) and is_glued(text[end - 1]) and is_glued(text[end])
