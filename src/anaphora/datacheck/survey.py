"""The survey of a corpus: every split and side, what the splits share, and what training does not have.

The held-out splits are read first, then the training split, which strikes its words off theirs.
"""

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.data.corpora import PairCorpus, Splits, by_direction
from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.findings import SHOWN, Finding, Place, Tally, findings
from anaphora.datacheck.splits import HeldOutWords, SideSurvey, SplitSurvey
from anaphora.events import Progress, Report, silent
from anaphora.text.normalise import lowercase_of, normalise
from anaphora.text.scripts import scripts_of

_EVERY = 10_000
"""Lines between two Progress events."""

_MIN_REPEATED = 20
"""Characters of a line of running text that may not occur twice."""

_OF_LABELS = {"ambiguous": "contradictory", "source-overlap": "label-overlap"}
"""Kinds of repeats of texts that have labels in place of translations."""


Records = np.ndarray[Any, np.dtype[np.void]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]

_RECORD = np.dtype([("source", "<u8"), ("target", "<u8"), ("split", "u1"), ("file", "<u4"), ("line", "<u4")])
_SLICES = 64
_BUFFERED = 1 << 14
TRAIN = 0
"""The number of the training split."""
_REST = 255
"""The number of its lines that are not in the sample, but have a source of a held-out split."""


class Repeats:
    """Collects lines, then finds those that repeat, whatever white space is around or between their words.

    A record is 25 bytes; records fall into 64 files by the hash of their source, so that all that could be equal is in
    one file, and a corpus of 100 million pairs takes 2.5 GB of disk and about 100 MB of memory to compare.

    Of a large training split a sample of sources is compared, each with all of its lines, so that the fraction that
    repeats is that of the sample. Sources that a held-out split has are always found.
    """

    def __init__(self, folder: Path, every: int = 1) -> None:
        """``folder`` must be empty; whoever made it removes it. One in ``every`` sources of the training split counts.

        Held-out splits are to be added before it.
        """
        self._folder, self._every = folder, every
        self._held_out: set[int] = set()
        self.compared = 0
        """Lines of the training split that are in the sample."""
        self._files: dict[Path, int] = {}
        self._buffer: list[tuple[int, int, int, int, int]] = []

    def add(self, split: int, place: Place, source: str, target: str = "") -> None:
        """Add a pair, or a line of running text; ``split`` 0 is the training split, and lines come in order."""
        key = _hash(source)
        if self._every > 1 and split != TRAIN:
            self._held_out.add(key)
        elif split == TRAIN and (key >> 32) % self._every:
            if key not in self._held_out:
                return
            split = _REST
        self.compared += split == TRAIN
        file = self._files.setdefault(place.file, len(self._files))
        self._buffer.append((key, _hash(target), split, file, place.line))
        if len(self._buffer) >= _BUFFERED:
            self._flush()

    def results(self, splits: int) -> list[dict[str, Tally]]:
        """Return for every split its "duplicate", "ambiguous", "overlap" and "source-overlap" lines."""
        self._flush()
        found = [defaultdict[str, Tally](Tally) for _ in range(splits)]
        for path in sorted(self._folder.glob("*.records")):
            records = np.fromfile(path, dtype=_RECORD)
            for split, tallies in enumerate(found):
                for kind, lines, earlier in _repeats(records, split):
                    self._add_to(tallies[kind], lines, earlier)
        return [dict(tallies) for tallies in found]

    def _add_to(self, tally: Tally, lines: Records, earlier: Records) -> None:
        """Count ``lines``, which repeat ``earlier`` row by row; the first places of all slices are kept."""
        files = list(self._files)
        tally.count += len(lines)
        for line, other in zip(lines[:SHOWN], earlier[:SHOWN], strict=True):
            where = "" if other["file"] == line["file"] else f"{files[other['file']].name}:"
            tally.places.append(Place(files[line["file"]], int(line["line"]), f"as {where}{other['line']}"))
        tally.places = nsmallest(SHOWN, tally.places, key=lambda place: (self._files[place.file], place.line))

    def _flush(self) -> None:
        records = np.array(self._buffer, dtype=_RECORD)
        self._buffer.clear()
        slices = records["source"] % _SLICES
        for number in np.unique(slices):
            with (self._folder / f"{number}.records").open("ab") as stream:
                stream.write(records[slices == number].tobytes())


@dataclass
class Survey:
    """The results for a corpus."""

    sides: list[SideSurvey] = field(default_factory=list)
    """Every side of every split, the training split first."""
    findings: list[Finding] = field(default_factory=list)
    histograms: list[Histogram] = field(default_factory=list)
    """Distributions of the training split."""

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
    if isinstance(corpus.train, PairCorpus) and corpus.train.members:  # each pair of languages by itself
        how: Any = {"lowercase": lowercase, "exact": exact, "report": report}
        found = [vars(survey_corpus(one, one.train.languages, **how)).values() for one in by_direction(corpus)]
        return Survey(*(list(chain(*lists)) for lists in zip(*found, strict=True)))
    names = tuple(languages) if len(languages) > 1 else ("text",)
    if len(set(names)) < len(names):
        names = ("source", "target")
    every = (corpus.train, corpus.valid, *corpus.tests.values())
    splits = [SplitSurvey(one, names, training=one is corpus.train, exact=exact) for one in every]
    words = [HeldOutWords(lowercase=lowercase_of(lowercase, language)) for language in languages]
    with tempfile.TemporaryDirectory(prefix="anaphora-check-") as folder:
        repeats = Repeats(Path(folder), splits[TRAIN].every)
        for number in (*range(1, len(splits)), TRAIN):
            _read(number, splits[number], words, repeats, report)
        for split, repeated in zip(splits, repeats.results(len(splits)), strict=True):
            kinds = _OF_LABELS if split.labelled else {}
            split.repeats = {kinds.get(kind, kind): tally for kind, tally in repeated.items()}
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
        if row.label or len(row.texts) > 1 or len(row.texts[0].strip()) >= _MIN_REPEATED:
            repeats.add(number, row.places[0], *row.texts, *filter(None, [row.label]))
        if done % _EVERY == 0 or done == split.corpus.count:
            unit = "pairs" if len(row.texts) > 1 else "lines"
            report(Progress(f"reading {split.name}", done, split.corpus.count, unit))


def _in_other_scripts(sides: Sequence[SideSurvey]) -> Iterator[Finding]:
    """Yield a finding for every side whose letters are mostly in no script of its language, by the languages' names."""
    for side in sides:
        if own := scripts_of(side.side):
            swapped = any(_mostly_in(side, other) and _mostly_in(other, side) for other in sides if other is not side)
            outside = Tally(side.letters.total() - side.letters_in(own), side.lines_outside(own).places)
            kind = "swapped" if swapped else "language"
            yield from findings(side.split, side.side, {kind: outside}, side.letters.total())


def _mostly_in(side: SideSurvey, other: SideSurvey) -> bool:
    """True if most letters of a side are in the scripts of the other side's language."""
    return 2 * side.letters_in(scripts_of(other.side)) > side.letters.total()


def _repeats(records: Records, split: int) -> Iterator[tuple[str, Records, Records]]:
    """Yield the repeats of a split in one slice: kind, lines, and the earlier line that each of them repeats."""
    own, train = records[records["split"] == split], records[np.isin(records["split"], (TRAIN, _REST))]
    first = _find(_pair_hashes(own), _pair_hashes(own))
    repeated = first != np.arange(len(own))
    yield "duplicate", own[repeated], own[first[repeated]]
    distinct = own[~repeated]
    first = _find(distinct["source"], distinct["source"])
    repeated = first != np.arange(len(distinct))
    yield "ambiguous", distinct[repeated], distinct[first[repeated]]
    if split != TRAIN and len(train):
        pairs, sources = _find(_pair_hashes(train), _pair_hashes(own)), _find(train["source"], own["source"])
        same, other = pairs >= 0, (pairs < 0) & (sources >= 0)
        yield "overlap", own[same], train[pairs[same]]
        yield "source-overlap", own[other], train[sources[other]]


def _find(keys: Hashes, wanted: Hashes) -> Rows:
    """Return the first row of the keys that has each wanted key, or -1."""
    if not len(wanted):
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    rows = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where(keys[rows] == wanted, rows, -1)


def _pair_hashes(records: Records) -> Hashes:
    return np.asarray(records["source"] * np.uint64(0x9E3779B97F4A7C15) + records["target"])


def _hash(text: str) -> int:
    plain = " ".join(normalise(text).split())
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), "little")
