"""The survey of a corpus: every split and side, what the splits share, and what training does not have.

The held-out splits are read first, then the training split, which strikes its words off theirs.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.data.corpora import Splits
from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.findings import Finding, Tally, findings
from anaphora.datacheck.repeats import TRAIN, Repeats
from anaphora.datacheck.splits import SideSurvey, SplitSurvey
from anaphora.datacheck.words import HeldOutWords
from anaphora.events import Progress, Report, silent
from anaphora.text.normalise import lowercase_of
from anaphora.text.scripts import scripts_of

_EVERY = 10_000
"""Lines between two Progress events."""

_MIN_REPEATED = 20
"""Characters of a line of running text that may not occur twice."""


@dataclass
class Survey:
    """The results for a corpus."""

    sides: list[SideSurvey] = field(default_factory=list)
    """Every side of every split, the training split first."""
    findings: list[Finding] = field(default_factory=list)
    histograms: list[Histogram] = field(default_factory=list)
    """Of the training split."""

    def json(self) -> dict[str, Any]:
        return {"sides": [side.json() for side in self.sides], "histograms": [h.json() for h in self.histograms]}


def survey_corpus(
    corpus: Splits[Any],
    languages: Sequence[str] = ("",),
    *,
    lowercase: bool = False,
    exact: bool = True,
    report: Report = silent,
) -> Survey:
    """Survey a corpus whose sides are in these two ``languages``, or running text in one.

    It is surveyed whole, or not ``exact`` and of a sample where it is large. Two sides in one language, such as
    spelling and pronunciation, are named as its source and target, and may be in any script. Raises DataError for files
    that changed or vanished since the splits were found.
    """
    names = tuple(languages) if len(languages) > 1 else ("text",)
    if len(set(names)) < len(names):
        names = (f"{names[0]} (source)", f"{names[1]} (target)")
    every = (corpus.train, corpus.valid, *corpus.tests.values())
    splits = [SplitSurvey(one, names, training=one is corpus.train, exact=exact) for one in every]
    words = [HeldOutWords(lowercase=lowercase_of(lowercase, language)) for language in languages]
    with tempfile.TemporaryDirectory(prefix="anaphora-check-") as folder:
        repeats = Repeats(Path(folder), splits[TRAIN].every)
        for number in (*range(1, len(splits)), TRAIN):
            _read(number, splits[number], words, repeats, report)
        for split, repeated in zip(splits, repeats.results(len(splits)), strict=True):
            split.repeats = repeated
    train = splits[TRAIN]
    train.compared = repeats.compared if train.every > 1 else 0
    scripts = {side.side: side.scripts() for side in train.sides}
    survey = Survey(findings=list(_in_other_scripts(train.sides)), histograms=train.histograms())
    for number, split in enumerate(splits):
        for side, held_out in zip(split.sides, words, strict=True):
            side.unknown = held_out.result(number) if number != TRAIN else None
        survey.sides += split.sides
        survey.findings += split.findings(scripts)
    return survey


def _read(number: int, split: SplitSurvey, words: Sequence[HeldOutWords], repeats: Repeats, report: Report) -> None:
    for done, (row, drawn) in enumerate(split.read(), 1):
        for known, text, place in zip(words, row.texts, row.places, strict=True) if drawn else ():
            if number == TRAIN:
                known.strike(text)
            else:
                known.gather(number, text, place)
        if len(row.texts) > 1 or len(row.texts[0].strip()) >= _MIN_REPEATED:
            repeats.add(number, row.places[0], *row.texts)
        if done % _EVERY == 0 or done == split.corpus.count:
            unit = "pairs" if len(row.texts) > 1 else "lines"
            report(Progress(f"reading {split.name}", done, split.corpus.count, unit))


def _in_other_scripts(sides: Sequence[SideSurvey]) -> Iterator[Finding]:
    """A finding for every side whose letters are mostly in no script of its language, by the languages' names."""
    for side in sides:
        if own := scripts_of(side.side):
            swapped = any(_mostly_in(side, other) and _mostly_in(other, side) for other in sides if other is not side)
            outside = Tally(side.letters.total() - side.letters_in(own), side.lines_outside(own).places)
            kind = "swapped" if swapped else "language"
            yield from findings(side.split, side.side, {kind: outside}, side.letters.total())


def _mostly_in(side: SideSurvey, other: SideSurvey) -> bool:
    """Whether most letters of a side are in the scripts of the other side's language."""
    return 2 * side.letters_in(scripts_of(other.side)) > side.letters.total()
