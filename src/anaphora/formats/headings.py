"""Headings of tables: columns named by languages, or by source and target."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_NAMES = """
    english:en german:de french:fr spanish:es italian:it portuguese:pt dutch:nl czech:cs polish:pl russian:ru
    ukrainian:uk turkish:tr arabic:ar hebrew:he hindi:hi chinese:zh japanese:ja korean:ko greek:el finnish:fi
    swedish:sv danish:da norwegian:no hungarian:hu romanian:ro bulgarian:bg
    deutsch:de français:fr español:es castellano:es italiano:it português:pt nederlands:nl čeština:cs česky:cs polski:pl
    русский:ru українська:uk türkçe:tr العربية:ar عربي:ar עברית:he हिन्दी:hi 中文:zh 日本語:ja 한국어:ko ελληνικά:el
    suomi:fi svenska:sv dansk:da norsk:no magyar:hu română:ro български:bg
    englisch:en französisch:fr spanisch:es italienisch:it anglais:en allemand:de espagnol:es italien:it inglés:en
    alemán:de francés:fr
"""
_CODES = dict(entry.split(":", 1) for entry in _NAMES.split())
"""Codes of languages by their names in English, in the language itself, and some in German, French and Spanish."""
SIDES = ("source", "src", "sentence1"), ("target", "tgt", "trg", "sentence2")
"""Names of the two sides in headings."""
_SOURCES, _TARGETS = map(frozenset, SIDES)
_BESIDE = frozenset(["column", "lang", "language", "phrase", "segment", "sentence", "string", "text"])
"""Words that headings add to a name, as in "Source text" and "sentence_de"."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)?")
_LOCALE = re.compile(r"[a-z]{2,3}([-_][A-Z][a-z]{3})?[-_]([A-Z]{2}|\d{3})|[a-z]{2,3}[-_][A-Z][a-z]{3}")
"""A language with its region or script, as in "en-US" and "zh-Hant" (BCP 47), or "en_US"."""


class Column(NamedTuple):
    """Name in a cell of a heading."""

    name: str
    """A language, by its code where that is known, or a side; in lower case."""
    spelt: bool
    """True if it is a language that is written out, which its code alone is not."""

    @classmethod
    def of(cls, cell: str) -> "Column":
        """Return that of "# Source text" is "source", those of "German" and "sentence_de" are "de"."""
        words = [word for word in _WORD.findall(cell.casefold()) if word not in _BESIDE]
        word = words[0] if len(words) == 1 else cell.strip().casefold()
        return cls(_CODES.get(word, word), word in _CODES)


def is_heading(cells: Sequence[str], sides: tuple[str, str] = ("", "")) -> bool:
    """True if two cells name languages, with a region or those of ``sides``, or sides."""
    columns = [Column.of(cell) for cell in cells]
    names = _SOURCES | _TARGETS | {name for side in sides if side for name in (side.casefold(), _language(side))}
    known = (
        one.spelt or one.name in names or _LOCALE.fullmatch(cell.strip())
        for one, cell in zip(columns, cells, strict=True)
    )
    return len({column.name for column in columns}) == len(cells) == 2 and all(known)


def is_reversed(cells: Sequence[str], sides: tuple[str, str]) -> bool:
    """True if a heading names the target first."""
    first, second = (Column.of(cell).name for cell in cells)
    target_first = first in _TARGETS and second in _SOURCES
    source, target = (side.casefold() for side in sides)
    if _language(source) != _language(target):
        first, second, source, target = map(_language, (first, second, source, target))
    return target_first or (second, first) == (source, target)


def _language(code: str) -> str:
    """Return a code without its region and script."""
    return re.split("[-_]", code.casefold())[0]
