"""Surveys of a split and of its sides, line by line, in constant memory; of large training splits, of a sample."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.data.filters import MIN_LETTERS, log_ratio
from anaphora.datacheck.distribution import Histogram, Lengths, Ratios, length_histogram
from anaphora.datacheck.findings import SHOWN, Finding, Place, Tally, findings
from anaphora.datacheck.rows import Row, rows
from anaphora.datacheck.words import Unknown
from anaphora.formats.entries.entry import REASONS
from anaphora.text.quality import line_faults, pair_faults
from anaphora.text.scripts import script_of

LARGE, SAMPLED = 1_000_000, 200_000
"""Of a training split of so many lines or more, so many are surveyed, or some more."""

USUAL = 0.1
"""Fraction of a side's lines that must have letters of a script for it to be usual."""


_GOLDEN = 2_654_435_769
"""2^32 over the golden ratio."""


class SideSurvey:
    """Counts and faults of one side of a split; running text has one side."""

    def __init__(self, split: str, side: str) -> None:
        self.split, self.side = split, side
        self.lines = self.empty = self.words = self.characters = 0
        self.lengths = Lengths()
        """Of the lines that are not empty."""
        self.letters: Counter[str] = Counter()
        """Letters by script, in lines that have enough of them."""
        self.faults: defaultdict[str, Tally] = defaultdict(Tally)
        self.unknown: Unknown | None = None
        """The words that training does not have, if this side is held out."""
        self._scripts: defaultdict[frozenset[str], Tally] = defaultdict(Tally)
        """Lines by the scripts of their letters."""

    def add(self, text: str, place: Place) -> None:
        self.lines += 1
        self.words += len(text.split())
        self.characters += len(text)
        if not text.strip():
            self.empty += 1
            return
        self.lengths.add(len(text), place, len(text))
        for kind, shown in line_faults(text):
            self.faults[kind].add(place, shown)
        letters = Counter(filter(None, map(script_of, text)))
        if letters.total() >= MIN_LETTERS:
            self.letters.update(letters)
            self._scripts[frozenset(letters)].add(place, " and ".join(sorted(letters)))

    def scripts(self) -> frozenset[str]:
        lines = {
            script: sum(t.count for found, t in self._scripts.items() if script in found) for script in self.letters
        }
        least = USUAL * sum(tally.count for tally in self._scripts.values())
        return frozenset(script for script, count in lines.items() if count >= least)

    def lines_outside(self, scripts: frozenset[str]) -> Tally:
        """Return the lines without a letter of these scripts; none if there are no scripts."""
        outside = [tally for found, tally in self._scripts.items() if scripts and found.isdisjoint(scripts)]
        places = sorted(place for tally in outside for place in tally.places)
        return Tally(sum(tally.count for tally in outside), places[:SHOWN])

    def letters_in(self, scripts: frozenset[str]) -> int:
        return sum(self.letters[script] for script in scripts)

    def findings(self, scripts: frozenset[str]) -> Iterator[Finding]:
        """Return the faults of single lines; ``scripts`` are the usual ones of this side in the training split."""
        tallies = {**self.faults, "long": self.lengths.too_long(), "script": self.lines_outside(scripts)}
        return findings(self.split, self.side, tallies, self.lines)

    def json(self) -> dict[str, Any]:
        """Return the counts, for ``json.dumps``; the split is called ``part``."""
        counts = {
            "part": self.split,
            "side": self.side,
            "lines": self.lines,
            "empty": self.empty,
            "words": self.words,
            "characters": self.characters,
            "median_characters": self.lengths.quantile(0.5),
            "longest_characters": self.lengths.quantile(1.0),
            "scripts": sorted(self.scripts()),
        }
        if self.unknown is None:
            return counts
        return counts | {
            "running_words_looked_up": self.unknown.running,
            "unknown_words": self.unknown.unknown.count,
            "words_in_other_case": self.unknown.in_other_case.count,
        }


class SplitSurvey:
    """Counts and faults of a split, of pairs or of running text."""

    def __init__(
        self, corpus: PairCorpus | TextCorpus, sides: Sequence[str], *, training: bool, exact: bool = True
    ) -> None:
        """``sides`` are their displayed names: the languages, or "text"; a large ``training`` split may be sampled."""
        self.name, self.corpus = corpus.name, corpus
        self.every = corpus.count // SAMPLED if training and not exact and corpus.count >= LARGE else 1
        """One in so many lines is surveyed, the first of each file among them."""
        self.repeats: dict[str, Tally] = {}
        self.compared = 0
        """Lines that ``repeats`` are a fraction of, where they are not those that are surveyed."""
        self.sides = [SideSurvey(self.name, side) for side in sides]
        self.faults: defaultdict[str, Tally] = defaultdict(Tally)
        """Of pairs, and of whole lines."""
        # where two splits share files, the first one reports skipped lines: a held-out one keeps no empty pair
        self._reports_skipped = training or (isinstance(corpus, PairCorpus) and corpus.keep("", ""))
        self._ratios = Ratios()
        self._rejected = 0

    def read(self) -> Iterator[tuple[Row, bool]]:
        """Survey the lines of the split, and the pairs that lack a side; yields the former, and whether they were."""
        for row in rows(self.corpus, self._reject):
            drawn = self._is_drawn(row.places[0])
            if drawn and (row.kept or (self._reports_skipped and not all(map(str.strip, row.texts)))):
                self._add(row)
            if row.kept:
                yield row, drawn

    def findings(self, scripts: Mapping[str, frozenset[str]]) -> Iterator[Finding]:
        """Return the findings; ``scripts`` are the usual ones of the training split, by side."""
        for side in self.sides:
            yield from side.findings(scripts[side.side])
        lines = self.sides[0].lines
        if self.every > 1:
            yield from findings(self.name, "", {"sampled": Tally(lines)}, self.corpus.count)
        skipped = {kind: tally for kind, tally in self.faults.items() if kind in REASONS}
        yield from findings(self.name, "", skipped, lines + self._rejected)
        others = {kind: tally for kind, tally in self.faults.items() if kind not in REASONS}
        yield from findings(self.name, "", others | {"ratio": self._ratios.unusual()}, lines)
        yield from findings(self.name, "", self.repeats, self.compared or lines)
        for side in self.sides:
            if unknown := side.unknown:
                tallies = {"unknown-words": unknown.unknown, "case": unknown.in_other_case}
                yield from findings(self.name, side.side, tallies, unknown.running)

    def histograms(self) -> list[Histogram]:
        lengths = length_histogram([(side.side, side.lengths) for side in self.sides])
        return [lengths, self._ratios.histogram()] if len(self.sides) > 1 else [lengths]

    def _reject(self, kind: str, place: Place) -> None:
        if self._reports_skipped and self._is_drawn(place):
            self._rejected += 1
            self.faults[kind].add(place)

    def _is_drawn(self, place: Place) -> bool:
        """True if a line is in the sample, which is drawn evenly (multiplicative hashing, Knuth 1973)."""
        return self.every == 1 or (place.line - 1) * _GOLDEN % (1 << 32) * self.every < 1 << 32

    def _add(self, row: Row) -> None:
        for side, text, place in zip(self.sides, row.texts, row.places, strict=True):
            side.add(text, place)
            if len(row.texts) > 1 and not text.strip():
                side.faults["blank" if text else "empty"].add(place)
        if len(row.texts) > 1:
            source, target = row.texts
            self._add_pair(source, target, row.places[0])

    def _add_pair(self, source: str, target: str, place: Place) -> None:
        if place.line == 1 and [source.strip().lower(), target.strip().lower()] == [one.side for one in self.sides]:
            self.faults["header"].add(place, f"{source} | {target}")
        if any(len(side) > 1 and side[0] == side[-1] == '"' for side in (source, target)):
            self.faults["quoted"].add(place)
        if source.strip() and target.strip():
            sizes = len(source), len(target)
            self._ratios.add(log_ratio(*sizes), place, *sizes)
            for kind, shown in pair_faults(source, target):
                self.faults[kind].add(place, shown)
