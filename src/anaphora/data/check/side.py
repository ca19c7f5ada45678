"""What is learnt of one side of one part, line by line, in constant memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anaphora.data.check import characters
from anaphora.data.check.findings import Finding, Place, Tally
from anaphora.data.check.lengths import Lengths
from anaphora.data.check.rules import findings
from anaphora.data.check.scripts import Scripts


class SideSurvey:
    """Counts and faults of one side of a part; a language model's text is its only side."""

    def __init__(self, part: str, side: str) -> None:
        self.part, self.side = part, side
        self.lines = self.empty = self.words = self.characters = 0
        self.lengths = Lengths()
        self.scripts = Scripts()
        self._faults: dict[str, Tally] = {}

    def see(self, text: str, file: Path, line: int) -> None:
        """Look at a line."""
        self.lines += 1
        self.words += len(text.split())
        self.characters += len(text)
        if not text.strip():
            self.empty += 1
            return
        self.lengths.see(len(text), file, line)
        self.scripts.see(text, file, line)
        for kind, shown in characters.faults(text):
            self.fault(kind, Place(file, line, shown))

    def fault(self, kind: str, place: Place) -> None:
        """Note a fault that was found elsewhere."""
        self._faults.setdefault(kind, Tally()).add(place)

    def findings(self, usual: frozenset[str]) -> Iterator[Finding]:
        """What is wrong with the side, whose ``usual`` scripts are those of the training part."""
        tallies = {**self._faults, "long": self.lengths.long(), "script": self.scripts.unusual(usual)}
        return findings(self.part, self.side, tallies, self.lines)

    def json(self) -> dict[str, Any]:
        """The counts, for ``json.dumps``."""
        return {
            "part": self.part,
            "side": self.side,
            "lines": self.lines,
            "empty": self.empty,
            "words": self.words,
            "characters": self.characters,
            "median_characters": self.lengths.quantile(0.5),
            "longest_characters": max(self.lengths.counts, default=0),
            "scripts": sorted(self.scripts.usual()),
        }
