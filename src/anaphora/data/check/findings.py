"""What can be wrong with data: named, counted, with its first places, and what to do about it.

A rule says how much of a fault is worth which word. Every rule stands in ``rules.py``.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

Severity = Literal["error", "warning", "note"]

SHOWN = 5
"""Places that a finding names."""


class Place(NamedTuple):
    """A line of a file, and what is to be seen there; ordered as files are named and lines stand."""

    file: Path
    line: int
    shown: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}{f' ({self.shown})' if self.shown else ''}"


@dataclass(frozen=True)
class Rule:
    """A kind of fault, and when it is worth a word."""

    kind: str
    what: str
    """What this many lines do or are: "hold a control character"."""
    remedy: str
    """What to do about it, in one sentence."""
    warn_from: float = 0.0
    """The share of the part's lines from which on it is a warning; below it is a note."""
    silent_below: float = 0.0
    """The share below which nothing is said."""

    def finding(self, part: str, side: str, count: int, total: int, places: Sequence[Place] = ()) -> "Finding | None":
        """The finding that ``count`` of ``total`` make, or None when they are none or too few to speak of."""
        share = count / total if total else 0.0
        if not count or share < self.silent_below:
            return None
        severity: Severity = "warning" if share >= self.warn_from else "note"
        return Finding(self.kind, severity, part, side, count, total, self.what, self.remedy, tuple(places))


@dataclass(frozen=True)
class Finding:
    """One fault of one part, and of one side of it unless ``side`` is empty."""

    kind: str
    severity: Severity
    part: str
    side: str
    count: int
    total: int
    """What ``count`` is a part of; 0 when nothing was counted."""
    what: str
    remedy: str
    places: tuple[Place, ...] = ()

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.part, self.side) if part)
        how_many = f"{self.count:,} of {self.total:,} {self.what}" if self.total else self.what
        sentence = f"{f'{where}: ' if where else ''}{how_many}{self._named()}."
        return f"{sentence} {self.remedy}".strip()

    def _named(self) -> str:
        """The places in brackets, a file named once."""
        named: list[str] = []
        before = None
        for place in self.places:
            shown = f" ({place.shown})" if place.shown else ""
            named.append(f"{place.line}{shown}" if place.file == before else str(place))
            before = place.file
        if self.count > len(named) > 0:
            named.append("...")
        return f" [{', '.join(named)}]" if named else ""

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "part": self.part,
            "side": self.side,
            "count": self.count,
            "total": self.total,
            "what": self.what,
            "remedy": self.remedy,
            "places": [{"file": str(p.file), "line": p.line, "shown": p.shown} for p in self.places],
        }


@dataclass
class Tally:
    """Faults of one kind as they are met: how many, and the first places, in constant memory."""

    count: int = 0
    places: list[Place] = field(default_factory=list)

    def add(self, place: Place) -> None:
        """One more, met after the others."""
        self.count += 1
        if len(self.places) < SHOWN:
            self.places.append(place)


class Largest:
    """The places with the largest measures, in constant memory."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Place]] = []
        self._seen = 0

    def add(self, measure: float, file: Path, line: int, shown: str) -> None:
        """One more place; of equals the first ones stay."""
        self._seen += 1
        if len(self._heap) < SHOWN:
            heapq.heappush(self._heap, (measure, -self._seen, Place(file, line, shown)))
        elif measure > self._heap[0][0]:
            heapq.heapreplace(self._heap, (measure, -self._seen, Place(file, line, shown)))

    def beyond(self, least: float) -> Iterator[Place]:
        """The places whose measure is more than ``least``, the largest first."""
        return (place for measure, _, place in sorted(self._heap, reverse=True) if measure > least)
