"""A whole corpus looked at: every part and side, what its parts share, and what training never shows.

Two readings: the held-out parts, then the training part, which strikes off the words it shows.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.data.check import pairs
from anaphora.data.check.findings import Finding, Place, Tally
from anaphora.data.check.lengths import Histogram, Ratios, length_histogram
from anaphora.data.check.reading import PairLine, pair_lines, text_lines
from anaphora.data.check.repeats import TRAIN, Repeats
from anaphora.data.check.rules import RULES
from anaphora.data.check.side import SideSurvey
from anaphora.data.check.words import HeldOutWords, Unknown
from anaphora.data.corpora import PairCorpus, Parts, TextCorpus
from anaphora.events import Progress, Report, silent

LEAST_REPEATED = 20
"""Characters of a line of running text that is worth a word when it comes twice."""

_EVERY = 10_000
"""Lines between two Progress events."""


@dataclass
class Survey:
    """What was found in a corpus."""

    sides: list[SideSurvey] = field(default_factory=list)
    """Every side of every part, the training part first."""
    unknown: dict[tuple[str, str], Unknown] = field(default_factory=dict)
    """Words that training does not show, by held-out part and side."""
    findings: list[Finding] = field(default_factory=list)
    histograms: list[Histogram] = field(default_factory=list)
    """Of the training part."""

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return {
            "sides": [side.json() | self._words(side) for side in self.sides],
            "histograms": [
                {
                    "title": h.title,
                    "unit": h.unit,
                    "labels": list(h.labels),
                    "series": {name: list(n) for name, n in h.series},
                }
                for h in self.histograms
            ],
        }

    def _words(self, side: SideSurvey) -> dict[str, Any]:
        unknown = self.unknown.get((side.part, side.side))
        if unknown is None:
            return {}
        return {
            "running_words_looked_up": unknown.running,
            "unknown_words": unknown.unknown,
            "words_in_other_case": unknown.in_other_case,
        }


def survey_pairs(
    parts: Parts[PairCorpus], sides: tuple[str, str], *, lowercase: bool = False, report: Report = silent
) -> Survey:
    """Look at a translation corpus whose sides are the languages ``sides``.

    Raises DataError for files that changed or vanished since the parts were found.
    """
    named = _in_reading_order(parts)
    words = {side: HeldOutWords(lowercase=lowercase) for side in sides}
    looked: dict[str, _PairPart] = {}
    with tempfile.TemporaryDirectory(prefix="anaphora-check-") as folder:
        repeats = Repeats(Path(folder))
        for number, (name, corpus) in named:
            part = looked[name] = _PairPart(name, sides)
            for done, row in enumerate(_pairs(part, corpus, number), 1):
                part.see(row)
                if not row.kept:
                    continue
                for side, text, file in _sides(sides, row):
                    if number == TRAIN:
                        words[side].shown(text)
                    else:
                        words[side].gather(name, text, file, row.line)
                repeats.add(number, row.source_file, row.line, row.source, row.target)
                if done % _EVERY == 0 or done == corpus.count:
                    report(Progress(f"reading {name}", done, corpus.count, "pairs"))
        shared = repeats.results(len(named))
    train = looked[named[-1][1][0]]
    usual = {side.side: side.scripts.usual() for side in train.sides}
    survey = Survey(histograms=train.histograms())
    for number, (name, _) in sorted(named):
        part = looked[name]
        survey.sides += part.sides
        for surveyed in part.sides:
            survey.findings += surveyed.findings(usual[surveyed.side])
        survey.findings += part.findings()
        survey.findings += _of(name, "", shared[number], part.sides[0].lines)
        if number != TRAIN:
            _look_up(survey, name, words)
    return survey


def survey_text(parts: Parts[TextCorpus], *, lowercase: bool = False, report: Report = silent) -> Survey:
    """Look at running text; errors as for ``survey_pairs``."""
    named = _in_reading_order(parts)
    words = HeldOutWords(lowercase=lowercase)
    looked: dict[str, SideSurvey] = {}
    with tempfile.TemporaryDirectory(prefix="anaphora-check-") as folder:
        repeats = Repeats(Path(folder))
        for number, (name, corpus) in named:
            side = looked[name] = SideSurvey(name, "text")
            for done, (file, line, text) in enumerate(text_lines(corpus), 1):
                side.see(text, file, line)
                if number == TRAIN:
                    words.shown(text)
                else:
                    words.gather(name, text, file, line)
                if len(text.strip()) >= LEAST_REPEATED:
                    repeats.add(number, file, line, text)
                if done % _EVERY == 0 or done == corpus.count:
                    report(Progress(f"reading {name}", done, corpus.count, "lines"))
        shared = repeats.results(len(named))
    train = looked[named[-1][1][0]]
    survey = Survey(histograms=[length_histogram([("text", train.lengths)])])
    for number, (name, _) in sorted(named):
        side = looked[name]
        survey.sides.append(side)
        survey.findings += side.findings(train.scripts.usual())
        survey.findings += _of(name, "", shared[number], side.lines)
        if number != TRAIN:
            _look_up(survey, name, {"text": words})
    return survey


class _PairPart:
    """One part of a translation corpus."""

    def __init__(self, name: str, sides: tuple[str, str]) -> None:
        self.name = name
        self.sides = [SideSurvey(name, side) for side in sides]
        self._ratios = Ratios()
        self._faults: dict[str, Tally] = {}

    def reject(self, place: Place) -> None:
        """A line that is no pair."""
        self._faults.setdefault("columns", Tally()).add(place)

    def see(self, row: PairLine) -> None:
        """A pair, perhaps one that lacks a side."""
        texts, files = (row.source, row.target), (row.source_file, row.target_file)
        for side, text, file in zip(self.sides, texts, files, strict=True):
            side.see(text, file, row.line)
            if not text.strip():
                side.fault("blank" if text else "empty", Place(file, row.line))
        if all(map(str.strip, texts)):
            self._ratios.see(len(row.source), len(row.target), row.source_file, row.line)
            for kind, shown in pairs.faults(row.source, row.target):
                self._faults.setdefault(kind, Tally()).add(Place(row.source_file, row.line, shown))

    def findings(self) -> Iterator[Finding]:
        """What is wrong with the pairs as such."""
        return _of(self.name, "", self._faults | {"ratio": self._ratios.unusual()}, self.sides[0].lines)

    def histograms(self) -> list[Histogram]:
        """Lengths and their ratio."""
        named = [(side.side, side.lengths) for side in self.sides]
        return [length_histogram(named), self._ratios.histogram()]


def _pairs(part: _PairPart, corpus: PairCorpus, number: int) -> Iterator[PairLine]:
    """The pairs of a part, and those that lack a side; where two parts share files, the first of them has those."""
    owner = number == TRAIN or corpus.keep("", "")  # a part held out of the training files keeps no empty pair

    def rejected(place: Place) -> None:
        if owner:
            part.reject(place)

    for row in pair_lines(corpus, rejected):
        if row.kept or (owner and not (row.source.strip() and row.target.strip())):
            yield row


def _sides(names: Sequence[str], row: PairLine) -> Iterator[tuple[str, str, Path]]:
    yield names[0], row.source, row.source_file
    yield names[1], row.target, row.target_file


def _in_reading_order(parts: Parts[Any]) -> list[tuple[int, tuple[str, Any]]]:
    """The parts with their numbers, the training part (number 0) last."""
    held_out = [(parts.valid.name, parts.valid), *parts.tests.items()]
    return [*enumerate(held_out, 1), (TRAIN, (parts.train.name, parts.train))]


def _look_up(survey: Survey, part: str, words: Mapping[str, HeldOutWords]) -> None:
    for side, held_out in words.items():
        unknown = survey.unknown[part, side] = held_out.result(part)
        survey.findings += _of(
            part,
            side,
            {
                "unknown-words": Tally(unknown.unknown, unknown.unknown_places),
                "case": Tally(unknown.in_other_case, unknown.case_places),
            },
            unknown.running,
        )


def _of(part: str, side: str, tallies: Mapping[str, Tally], total: int) -> Iterator[Finding]:
    """The findings that tallies make, in the order of the rules."""
    for kind, rule in RULES.items():
        tally = tallies.get(kind, Tally())
        if finding := rule.finding(part, side, tally.count, total, tally.places):
            yield finding
