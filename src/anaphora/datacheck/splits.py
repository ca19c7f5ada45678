"""Surveys of a split, its sides, words and tokens, line by line, in constant memory; of a sample if it is large."""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from anaphora.data.corpora import EntryFile, PairCorpus, PairFiles, TextCorpus
from anaphora.data.examples import LocatedExamples
from anaphora.data.filters import MIN_LETTERS, log_ratio
from anaphora.datacheck.distribution import Distribution, Histogram, Ratios, Shifts, length_histogram
from anaphora.datacheck.findings import RULES, SHOWN, Finding, Place, Rule, Tally, findings
from anaphora.formats.entries.entry import Reason
from anaphora.formats.json_text import attributes
from anaphora.formats.lines import read_lines
from anaphora.formats.tsv import HEADING
from anaphora.text.normalise import Lowercase, lower_case
from anaphora.text.punctuation import plain_words
from anaphora.text.quality import line_faults, pair_faults
from anaphora.text.scripts import script_of
from anaphora.text.tokenizer import Tokenizer

MAX_LINES = 100_000
"""Lines of a held-out split whose words are looked up; the rest of a larger split is assumed to be similar."""


@dataclass
class Unknown:
    """Running words of a held-out split that training does not have."""

    running: int = 0
    """Running words looked up."""
    unknown: Tally = field(default_factory=Tally)
    """Words that do not occur in training in any case."""
    in_other_case: Tally = field(default_factory=Tally)
    """Words that occur in training only in another case."""


class HeldOutWords:
    """The words of one side of the held-out splits; call ``gather`` for all of them before ``strike``."""

    def __init__(self, *, lowercase: Lowercase) -> None:
        """``lowercase`` lower-cases all text first, like the experiment's tokenizer."""
        self._lowercase = lowercase
        self._lines: Counter[int] = Counter()
        self._counts: dict[int, Counter[str]] = {}
        self._first: dict[tuple[int, str], Place] = {}
        self._unseen: set[str] = set()
        self._unseen_folded: set[str] = set()

    def gather(self, split: int, text: str, place: Place) -> None:
        """Add a line of a held-out split."""
        self._lines[split] += 1
        if self._lines[split] > MAX_LINES:
            return
        words = self._words(text)
        self._counts.setdefault(split, Counter()).update(words)
        for word in words:
            self._first.setdefault((split, word), place)
        self._unseen.update(words)
        self._unseen_folded.update(map(str.casefold, words))

    def strike(self, text: str) -> None:
        """Remove the words of a training line."""
        words = self._words(text)
        self._unseen.difference_update(words)
        self._unseen_folded.difference_update(map(str.casefold, words))

    def result(self, split: int) -> Unknown:
        counts = self._counts.get(split, Counter())
        result = Unknown(counts.total())
        for word, count in counts.items():
            if word in self._unseen:
                tally = result.unknown if word.casefold() in self._unseen_folded else result.in_other_case
                tally.add(self._first[split, word], word, count)
        return result

    def _words(self, text: str) -> list[str]:
        composed = unicodedata.normalize("NFC", text)
        return plain_words(lower_case(composed, self._lowercase))


class Row(NamedTuple):
    """A line of running text, or a pair of lines, and the place of each."""

    texts: tuple[str, ...]
    places: tuple[Place, ...]
    kept: bool = True
    """True if the corpus has this row; its files may have others."""
    label: str = ""
    """Label of a text that has one."""
    faults: tuple[tuple[str, str], ...] = ()
    """Kind of each fault that the corpus itself knows, and the characters that show it."""


def rows(
    corpus: PairCorpus | TextCorpus, rejected: Callable[[str, Place], None] = lambda kind, place: None
) -> Iterator[Row]:
    """Yield every line of a running text, or every pair in a corpus's files.

    ``rejected`` receives those that are no pair: the kind of their finding, and where and what they are.
    """
    if isinstance(corpus, LocatedExamples):
        examples: Iterator[Any] = corpus.examples()
        for one in examples:
            place = Place(*corpus.file_and_line(one))
            yield Row((one.text,), (place,), label=corpus.label_of(one), faults=tuple(corpus.faults(one)))
        return
    if isinstance(corpus, TextCorpus):
        lines = ((file, *line) for file in corpus.paths for line in enumerate(read_lines(file), 1))
        for file, number, text in islice(lines, corpus.start, corpus.start + corpus.count):
            yield Row((text,), (Place(file, number),))
        return
    for part in corpus.parts:
        keeps = part.make_filter()
        for pair_file in part.files:
            source_file, target_file = pair_file.paths[0], pair_file.paths[-1]
            for number, source, target in _pairs(pair_file, rejected):
                places = Place(source_file, number), Place(target_file, number)
                yield Row((source, target), places, keeps(source, target))


def _pairs(file: PairFiles, rejected: Callable[[str, Place], None]) -> Iterator[tuple[int, str, str]]:
    def reject(line: int, why: str) -> None:
        kind = "header" if why == HEADING else why if isinstance(file, EntryFile) else "columns"
        rejected(kind, Place(file.paths[0], line, why))

    return ((row.line, row.source, row.target) for row in file.rows(reject))


MAX_TOKENIZED_LINES = 10_000
"""Lines of a split that are tokenized; the rest of a larger split is assumed to be similar."""


def unknown_tokens(
    split: str,
    corpus: PairCorpus | TextCorpus,
    tokenizers: Mapping[str, Tokenizer],
    names: Mapping[str, str],
    rule: Rule = RULES["unknown-tokens"],
) -> Iterator[Finding]:
    """Findings for the sides of a split by a ``rule``; ``names`` has the displayed name of each tokenizer's side."""
    sides = ("source", "target") if isinstance(corpus, PairCorpus) else ("text",)
    totals = dict.fromkeys(sides, 0)
    tallies = {side: Tally() for side in sides}
    for row in islice((row for row in rows(corpus) if row.kept), MAX_TOKENIZED_LINES):
        for side, text, place in zip(sides, row.texts, row.places, strict=True):
            ids = tokenizers[side].encode(text)
            totals[side] += len(ids)
            if unknown := ids.count(tokenizers[side].symbols.unk):
                tallies[side].add(place, count=unknown)
    for side, tally in tallies.items():
        if finding := rule.finding(split, names[side], tally.count, totals[side], tally.places):
            yield finding


LARGE, SAMPLED = 1_000_000, 200_000
"""Lines from which a training split is surveyed in part, and about how many are then."""

LONG_CHARACTERS, LONG_MEDIANS = 500, 20
"""A line is too long if it has more characters than this, and is more than this many times as long as the median."""
USUAL = 0.1
"""Fraction of a side's lines that must have letters of a script for it to be usual."""


_GOLDEN = 2_654_435_769
"""2^32 over the golden ratio."""


class SideSurvey:
    """Counts and faults of one side of a split; running text has one side."""

    def __init__(self, split: str, side: str) -> None:
        self.split, self.side = split, side
        self.lines = self.empty = self.words = self.characters = 0
        self.lengths = Distribution("{:,} characters")
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
        long = self.lengths.outside(-math.inf, max(LONG_CHARACTERS, LONG_MEDIANS * self.lengths.quantile(0.5)))
        tallies = {**self.faults, "long": long, "script": self.lines_outside(scripts)}
        return findings(self.split, self.side, tallies, self.lines)

    def json(self) -> dict[str, Any]:
        """Return the counts, for ``json.dumps``."""
        counts = attributes(self, "split", "side", "lines", "empty", "words", "characters") | {
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

    def __init__(self, corpus: PairCorpus | TextCorpus, sides: Sequence[str], *, training: bool, exact: bool) -> None:
        """``sides`` are their displayed names: the languages, or "text"; a large ``training`` split may be sampled."""
        self.name, self.corpus = corpus.name, corpus
        self.every = corpus.count // SAMPLED if training and not exact and corpus.count >= LARGE else 1
        """One in so many lines is surveyed, the first of each file among them."""
        self.repeats: dict[str, Tally] = {}
        self.compared = 0
        """Lines that ``repeats`` are a fraction of, where they are not those that are surveyed."""
        self.sides = [SideSurvey(self.name, side) for side in sides]
        self.labelled = False
        """True if a text has a label."""
        self.faults: defaultdict[str, Tally] = defaultdict(Tally)
        """Of pairs, and of whole lines."""
        # where two splits share files, the first one reports skipped lines: a held-out one keeps no empty pair
        self._reports_skipped = training or (isinstance(corpus, PairCorpus) and corpus.keep("", ""))
        self._ratios, self._shifts = Ratios(), Shifts()
        self._rejected = 0

    def read(self) -> Iterator[tuple[Row, bool]]:
        """Survey the lines of the split, and the pairs that lack a side; yields the former, and whether they were."""
        for row in rows(self.corpus, self._reject):
            drawn = self._is_drawn(row.places[0])
            if drawn and (row.kept or (self._reports_skipped and not all(map(str.strip, row.texts)))):
                self._add(row)
            if row.kept:
                self.labelled |= bool(row.label)
                yield row, drawn

    def findings(self, scripts: Mapping[str, frozenset[str]]) -> Iterator[Finding]:
        """Return the findings; ``scripts`` are the usual ones of the training split, by side."""
        for side in self.sides:
            if getattr(self.corpus, "has_words", False):
                side.faults.pop("tokenised", None)
            yield from side.findings(scripts[side.side])
        lines = self.sides[0].lines
        if self.every > 1:
            yield from findings(self.name, "", {"sampled": Tally(lines)}, self.corpus.count)
        skipped = {kind: tally for kind, tally in self.faults.items() if kind in {*Reason}}
        yield from findings(self.name, "", skipped, lines + self._rejected)
        others = {kind: tally for kind, tally in self.faults.items() if kind not in {*Reason}}
        yield from findings(
            self.name, "", others | {"ratio": self._ratios.unusual(), "shifted": self._shifts.tally}, lines
        )
        yield from findings(self.name, "", self.repeats, self.compared or lines)
        for side in self.sides:
            if (unknown := side.unknown) and unknown.running > lines:  # held-out words alone are new by intent
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
        for kind, shown in row.faults:
            self.faults[kind].add(row.places[0], shown)

    def _add_pair(self, source: str, target: str, place: Place) -> None:
        if place.line == 1 and [source.strip().lower(), target.strip().lower()] == [one.side for one in self.sides]:
            self.faults["header"].add(place, f"{source} | {target}")
        if any(len(side) > 1 and side[0] == side[-1] == '"' for side in (source, target)):
            self.faults["quoted"].add(place)
        if source.strip() and target.strip():
            sizes = len(source), len(target)
            self._ratios.add(log_ratio(*sizes), place, *sizes)
            self._shifts.add(place, *sizes)
            for kind, shown in pair_faults(source, target):
                self.faults[kind].add(place, shown)
