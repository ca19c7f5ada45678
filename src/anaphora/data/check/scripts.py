"""The scripts that a side of a text is written in, and the lines in others."""

from collections import Counter
from pathlib import Path

from anaphora.data.check.findings import Place, Tally
from anaphora.text.scripts import script_of

USUAL = 0.1
"""A side's usual scripts are those that this many of its lines have letters of."""

LEAST_LETTERS = 4
"""A line with fewer letters (OK, km, USB) may be in any script."""


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
