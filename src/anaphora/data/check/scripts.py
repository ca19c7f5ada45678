"""Scripts of letters, from their Unicode names: enough to tell a Russian line from an English one."""

import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

from anaphora.data.check.findings import Place, Tally

_TOGETHER = {
    "HIRAGANA": "Han and kana",
    "KATAKANA": "Han and kana",
    "KATAKANA-HIRAGANA": "Han and kana",
    "HALFWIDTH": "Han and kana",
    "IDEOGRAPHIC": "Han and kana",
    "CJK": "Han and kana",
    "FULLWIDTH": "Latin",
}
"""Scripts that one language writes side by side, and letters named after their width."""

_NO_SCRIPT = frozenset(
    ("MODIFIER", "FEMININE", "MASCULINE", "MICRO", "KELVIN", "OHM", "ANGSTROM", "SUPERSCRIPT", "SUBSCRIPT")
) | frozenset(("MATHEMATICAL", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER", "INFORMATION", "EULER", "VERTICAL"))
"""First words of the names of letters that every script uses."""

UNSPACED = frozenset(("Han and kana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"))
"""Scripts that put no space between words."""

USUAL = 0.1
"""A side's usual scripts are those that this many of its lines have letters of."""

LEAST_LETTERS = 4
"""A line with fewer letters (OK, km, USB) may be in any script."""


@cache
def script_of(character: str) -> str:
    """The script of a letter, such as "Latin"; nothing for what is no letter or belongs to all scripts."""
    if not unicodedata.category(character).startswith("L"):
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    return "" if first in _NO_SCRIPT else _TOGETHER.get(first, first.capitalize())


class Scripts:
    """The scripts that a side is written in."""

    def __init__(self) -> None:
        self.letters: Counter[str] = Counter()
        """The letters of each, in lines that have enough of them."""
        self._lines: Counter[str] = Counter()
        self._seen = 0
        self._only: dict[frozenset[str], Tally] = {}

    def see(self, text: str, file: Path, line: int) -> None:
        """Take note of a line."""
        if text.isascii():
            letters = Counter(Latin=sum(map(str.isalpha, text)))
        else:
            letters = Counter(filter(None, map(script_of, text)))
        if letters.total() < LEAST_LETTERS:
            return
        found = frozenset(letters)
        self._seen += 1
        self._lines.update(found)
        self.letters.update(letters)
        self._only.setdefault(found, Tally()).add(Place(file, line, " and ".join(sorted(found))))

    def usual(self) -> frozenset[str]:
        """The scripts of at least a tenth of the lines."""
        return frozenset(script for script, lines in self._lines.items() if lines >= USUAL * self._seen)

    def unusual(self, usual: frozenset[str]) -> Tally:
        """The lines that hold no letter of a ``usual`` script; none when nothing is usual."""
        tally = Tally()
        strange = [lines for found, lines in self._only.items() if usual and found.isdisjoint(usual)]
        for place in sorted(place for lines in strange for place in lines.places):
            tally.add(place)
        tally.count = sum(lines.count for lines in strange)
        return tally

    def outside(self, scripts: frozenset[str]) -> Tally:
        """The letters that are in none of ``scripts``, and the first lines that hold no other."""
        within = sum(self.letters[script] for script in scripts)
        return Tally(self.letters.total() - within, self.unusual(scripts).places)
