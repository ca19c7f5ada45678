"""Segments of a translation memory, and the matches that it finds."""

from datetime import UTC, datetime
from typing import Any, NamedTuple


class Segment(NamedTuple):
    """A text with its translation."""

    source: str
    target: str
    before: str = ""
    """The source text in front of it where it was translated; empty where that is not known."""
    after: str = ""
    """The source text behind it."""
    origin: str = ""
    """The file that it comes from, or what confirmed it."""
    added: float = 0.0
    """When it entered the memory, in seconds since 1970."""
    times: int = 1
    """Number of times that it was in its file."""
    number: int = 0
    """Its number in the memory; 0 for one that is in none."""

    @property
    def day(self) -> str:
        """When it entered the memory, as YYYY-MM-DD (UTC)."""
        return datetime.fromtimestamp(self.added, UTC).date().isoformat()

    def json(self) -> dict[str, Any]:
        """Return the segment for ``json.dumps``."""
        return {
            "number": self.number,
            "source": self.source,
            "target": self.target,
            "origin": self.origin,
            "added": self.day,
        }


class Match(NamedTuple):
    """A segment that was found for a text."""

    segment: Segment
    percent: int
    """Similarity of its source to the text; 100 for the same text, white space apart, and for no other."""

    @property
    def is_exact(self) -> bool:
        """True if the texts are the same."""
        return self.percent == EXACT

    def __str__(self) -> str:
        return "exact" if self.is_exact else f"fuzzy {self.percent}%"


EXACT = 100


def key_of(text: str) -> str:
    """Return a text with single spaces for its white space and none at its ends: what exact matches compare."""
    return " ".join(text.split())
