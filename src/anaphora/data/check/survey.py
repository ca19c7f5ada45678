"""A whole corpus looked at: every part and side, what its parts share, and what training never shows.

Two readings: the held-out parts, then the training part, which strikes off the words it shows.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from anaphora.data.check.findings import Finding, Tally
from anaphora.data.check.languages import in_other_scripts
from anaphora.data.check.lengths import Histogram
from anaphora.data.check.parts import PairPart, SurveyedPart, TextPart
from anaphora.data.check.repeats import TRAIN, Repeats
from anaphora.data.check.rules import findings
from anaphora.data.check.side import SideSurvey
from anaphora.data.check.words import HeldOutWords, Unknown
from anaphora.data.corpora import PairCorpus, Parts, TextCorpus
from anaphora.events import Progress, Report, silent

AnyCorpus = TypeVar("AnyCorpus", PairCorpus, TextCorpus)

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

    Sides of one language, such as spelling and sound, are told apart as its source and its target, and may be in any
    script. Raises DataError for files that changed or vanished since the parts were found.
    """
    called = sides if sides[0] != sides[1] else (f"{sides[0]} (source)", f"{sides[1]} (target)")
    looked = {name: PairPart(name, corpus, called, training=corpus is parts.train) for name, corpus in _named(parts)}
    return _survey(looked, lowercase, report)


def survey_text(parts: Parts[TextCorpus], *, lowercase: bool = False, report: Report = silent) -> Survey:
    """Look at running text; errors as for ``survey_pairs``."""
    return _survey({name: TextPart(name, corpus) for name, corpus in _named(parts)}, lowercase, report)


def _named(parts: Parts[AnyCorpus]) -> Iterator[tuple[str, AnyCorpus]]:
    """The parts by name, the training part, which has the number ``TRAIN``, first."""
    yield parts.train.name, parts.train
    yield parts.valid.name, parts.valid
    yield from parts.tests.items()


def _survey(parts: Mapping[str, SurveyedPart], lowercase: bool, report: Report) -> Survey:
    train, *held_out = parts
    words = [(side.side, HeldOutWords(lowercase=lowercase)) for side in parts[train].sides]
    with tempfile.TemporaryDirectory(prefix="anaphora-check-") as folder:
        repeats = Repeats(Path(folder))
        for number, name in [*enumerate(held_out, TRAIN + 1), (TRAIN, train)]:
            for done, row in enumerate(parts[name].read(), 1):
                if row is None:
                    continue
                for (_, known), text, file in zip(words, row.texts, row.files, strict=True):
                    if number == TRAIN:
                        known.shown(text)
                    else:
                        known.gather(name, text, file, row.line)
                if not row.may_repeat:
                    repeats.add(number, row.files[0], row.line, *row.texts)
                if done % _EVERY == 0 or done == parts[name].count:
                    report(Progress(f"reading {name}", done, parts[name].count, parts[name].unit))
        shared = repeats.results(len(parts))
    usual = {side.side: side.scripts.usual() for side in parts[train].sides}
    survey = Survey(findings=list(in_other_scripts(parts[train].sides)), histograms=parts[train].histograms())
    for (name, part), repeated in zip(parts.items(), shared, strict=True):
        survey.sides += part.sides
        for side in part.sides:
            survey.findings += side.findings(usual[side.side])
        survey.findings += part.findings()
        survey.findings += findings(name, "", repeated, part.sides[0].lines)
        if name != train:
            _look_up(survey, name, words)
    return survey


def _look_up(survey: Survey, part: str, words: Sequence[tuple[str, HeldOutWords]]) -> None:
    for side, held_out in words:
        unknown = survey.unknown[part, side] = held_out.result(part)
        tallies = {
            "unknown-words": Tally(unknown.unknown, unknown.unknown_places),
            "case": Tally(unknown.in_other_case, unknown.case_places),
        }
        survey.findings += findings(part, side, tallies, unknown.running)
