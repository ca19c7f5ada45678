"""Findings of the data check: the rules, how often each applies, the first places, and the remedy.

``rules.tsv`` has every rule, in the order of reports. Fractions are of a split's lines, or of its letters, running
words or tokens where the rule counts those. ``docs/reference/check.md`` has the same table; a test compares the two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from anaphora.wording import agreeing

Severity = Literal["error", "warning", "note"]

SHOWN = 5
"""Number of places that a finding lists."""


class Place(NamedTuple):
    """A line of a file, and the characters that show the fault; ordered by file name and line."""

    file: Path
    line: int
    shown: str = ""


@dataclass
class Tally:
    """The number of faults of one kind, and their first places, in constant memory."""

    count: int = 0
    places: list[Place] = field(default_factory=list)

    def add(self, place: Place, shown: str = "", count: int = 1) -> None:
        """Count ``count`` faults at a place after those before."""
        self.count += count
        if len(self.places) < SHOWN:
            self.places.append(place._replace(shown=shown) if shown else place)


@dataclass(frozen=True)
class Finding:
    """One fault of a split, and of one side of it unless ``side`` is empty."""

    kind: str
    severity: Severity
    split: str
    side: str
    count: int
    total: int
    """Total that ``count`` is a fraction of; 0 when nothing was counted."""
    what: str
    remedy: str
    places: tuple[Place, ...] = ()

    def __str__(self) -> str:
        where = ", ".join(filter(None, (self.split, self.side)))
        count = f"{self.count:,} of {self.total:,} " if self.total else ""
        what = agreeing(self.count, self.what)
        sentence = f"{f'{where}: ' if where else ''}{count}{what}{self._places()}."
        return f"{sentence} {self.remedy}".strip()

    def _places(self) -> str:
        """Return the places in brackets, each file named once."""
        names: list[str] = []
        file = None
        for place in self.places:
            name = f"{place.line}" if place.file == file else f"{place.file}:{place.line}"
            names.append(f"{name} ({place.shown})" if place.shown else name)
            file = place.file
        if self.count > len(names) > 0:
            names.append("...")
        return f" [{', '.join(names)}]" if names else ""

    def json(self) -> dict[str, Any]:
        """Return every field, for ``json.dumps``."""
        return vars(self) | {"places": [{"file": str(p.file), "line": p.line, "shown": p.shown} for p in self.places]}


@dataclass(frozen=True)
class Rule:
    """A kind of fault, and from which fraction on it is reported."""

    kind: str
    warn_from: float
    """The fraction from which it is a warning; a note below."""
    silent_below: float
    """The fraction below which it is not reported."""
    what: str
    """The predicate of the finding: "lines contain a control character"."""
    remedy: str
    """Remedy, in one sentence."""

    def finding(self, split: str, side: str, count: int, total: int, places: Sequence[Place] = ()) -> Finding | None:
        """Return the finding for ``count`` of ``total``, or None if there are none or too few to report."""
        fraction = count / total if total else 0.0
        if not count or fraction < self.silent_below:
            return None
        severity: Severity = "warning" if fraction >= self.warn_from else "note"
        return Finding(self.kind, severity, split, side, count, total, self.what, self.remedy, tuple(places))


def _rules() -> Iterator[Rule]:
    for row in (files(__package__) / "rules.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        kind, warn_from, silent_below, what, remedy = row.split("\t")
        yield Rule(kind, float(warn_from), float(silent_below), what, remedy)


RULES = {rule.kind: rule for rule in _rules()}
"""The rules by kind."""


def findings(split: str, side: str, tallies: Mapping[str, Tally], total: int) -> Iterator[Finding]:
    """Yield the findings for tallies by kind, of ``total`` lines or words, in the order of the rules."""
    for kind, rule in RULES.items():
        tally = tallies.get(kind, Tally())
        if finding := rule.finding(split, side, tally.count, total, tally.places):
            yield finding
