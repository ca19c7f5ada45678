"""One part of a corpus, read line by line: what is wrong in it, and what it is compared with the other parts by."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from anaphora.data.check import pairs
from anaphora.data.check.findings import Finding, Place, Tally
from anaphora.data.check.lengths import Histogram, Ratios, length_histogram
from anaphora.data.check.reading import pair_lines, text_lines
from anaphora.data.check.rules import findings
from anaphora.data.check.side import SideSurvey
from anaphora.data.corpora import PairCorpus, TextCorpus

LEAST_REPEATED = 20
"""Characters of a line of running text that is worth a word when it comes twice."""


class Compared(NamedTuple):
    """A line that the parts of a corpus are compared by."""

    texts: tuple[str, ...]
    """Of every side."""
    files: tuple[Path, ...]
    line: int
    may_repeat: bool
    """Whether nothing is said when it comes twice."""


class SurveyedPart(Protocol):
    """A part, of pairs or of running text."""

    sides: list[SideSurvey]
    count: int
    """Lines that reading it takes."""
    unit: str
    """What these are."""

    def read(self) -> Iterator[Compared | None]:
        """Look at every line; None for one that the parts are not compared by."""

    def findings(self) -> Iterator[Finding]:
        """What is wrong with the lines as such, beside what is wrong with a side."""

    def histograms(self) -> list[Histogram]:
        """Of its lengths."""


class PairPart:
    """A part of a translation corpus."""

    unit = "pairs"

    def __init__(self, name: str, corpus: PairCorpus, sides: Sequence[str], *, training: bool) -> None:
        """``sides`` are what they are called: their languages, or more where these are the same."""
        self.sides = [SideSurvey(name, side) for side in sides]
        self.count = corpus.count
        self._name, self._corpus = name, corpus
        # where two parts share files, the first of them has their faults: a held-out one keeps no empty pair
        self._owner = training or corpus.keep("", "")
        self._ratios = Ratios()
        self._faults: dict[str, Tally] = {}

    def read(self) -> Iterator[Compared | None]:
        """Look at the pairs, and at those that lack a side."""
        for row in pair_lines(self._corpus, self._reject):
            if row.kept or (self._owner and not (row.source.strip() and row.target.strip())):
                pair = Compared(
                    (row.source, row.target), (row.source_file, row.target_file), row.line, may_repeat=False
                )
                self._see(pair)
                yield pair if row.kept else None

    def findings(self) -> Iterator[Finding]:
        """What is wrong with the pairs as such."""
        return findings(self._name, "", self._faults | {"ratio": self._ratios.unusual()}, self.sides[0].lines)

    def histograms(self) -> list[Histogram]:
        """Lengths and their ratio."""
        named = [(side.side, side.lengths) for side in self.sides]
        return [length_histogram(named), self._ratios.histogram()]

    def _reject(self, place: Place) -> None:
        """A line that is no pair."""
        if self._owner:
            self._faults.setdefault("columns", Tally()).add(place)

    def _see(self, pair: Compared) -> None:
        """A pair, perhaps one that lacks a side."""
        for side, text, file in zip(self.sides, pair.texts, pair.files, strict=True):
            side.see(text, file, pair.line)
            if not text.strip():
                side.fault("blank" if text else "empty", Place(file, pair.line))
        source, target = pair.texts
        if pair.line == 1 and [source.strip().lower(), target.strip().lower()] == [one.side for one in self.sides]:
            self._faults.setdefault("header", Tally()).add(Place(pair.files[0], 1, f"{source} | {target}"))
        if source.strip() and target.strip():
            self._ratios.see(len(source), len(target), pair.files[0], pair.line)
            for kind, shown in pairs.faults(source, target):
                self._faults.setdefault(kind, Tally()).add(Place(pair.files[0], pair.line, shown))


class TextPart:
    """A part of a running text."""

    unit = "lines"

    def __init__(self, name: str, corpus: TextCorpus) -> None:
        self.sides = [SideSurvey(name, "text")]
        self.count = corpus.count
        self._corpus = corpus

    def read(self) -> Iterator[Compared | None]:
        """Look at the lines."""
        for file, line, text in text_lines(self._corpus):
            self.sides[0].see(text, file, line)
            yield Compared((text,), (file,), line, may_repeat=len(text.strip()) < LEAST_REPEATED)

    def findings(self) -> Iterator[Finding]:
        """Nothing that is not said of its side."""
        return iter(())

    def histograms(self) -> list[Histogram]:
        """Lengths."""
        return [length_histogram([("text", self.sides[0].lengths)])]
