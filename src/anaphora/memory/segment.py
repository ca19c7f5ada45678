"""Segments of a translation memory, those that files have, and the matches that a memory finds."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from anaphora.errors import DataError
from anaphora.formats.json_text import attributes
from anaphora.formats.tsv import PLAIN, Layout, ignore, is_named_backward, languages_of_heading, read_pairs


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
    """Number in the memory; 0 for one that is in none."""

    @property
    def day(self) -> str:
        """When it entered the memory, as YYYY-MM-DD (UTC)."""
        return datetime.fromtimestamp(self.added, UTC).date().isoformat()

    def json(self) -> dict[str, Any]:
        """Return the segment for ``json.dumps``."""
        return attributes(self, "number", "source", "target", "origin") | {"added": self.day}


class Change(NamedTuple):
    """Words that a text and the source of a similar segment have both, or one of them."""

    kind: Literal["kept", "added", "removed"]
    words: str


class Match(NamedTuple):
    """A segment that was found for a text."""

    segment: Segment
    percent: int
    """Similarity of its source to the text; 100 for the same text, white space apart, and for no other."""
    changes: tuple[Change, ...] = ()
    """Changes from the source of a similar segment to the text; without regard to case."""
    text: str = ""
    """Target with the tags of the text, where that has some, or a similar one is to be used."""

    @property
    def is_exact(self) -> bool:
        """True if the texts are the same."""
        return self.percent == EXACT

    @property
    def difference(self) -> str:
        """Words that the text adds to its source and removes from it."""
        changes = [f"{one.kind} '{one.words}'" for one in self.changes if one.kind != "kept"]
        return ", ".join(changes) or "the same words"

    def json(self) -> dict[str, Any]:
        """Return how it was found for ``json.dumps``."""
        return {"memory": str(self), "changes": [one._asdict() for one in self.changes]}

    def __str__(self) -> str:
        return "exact" if self.is_exact else f"fuzzy {self.percent}%"


EXACT = 100


def key_of(text: str) -> str:
    """Return a text with single spaces for its white space and none at its ends: what exact matches compare."""
    return " ".join(text.split())


BLANK = "without text on both sides"
"""Why a pair is no segment."""


def segments_in(
    path: Path, languages: tuple[str, str], skipped: Callable[[int, str], None] = ignore
) -> Iterator[Segment]:
    """Yield the segments of a TMX, PO, XLIFF, CSV or TSV file, gzipped or not, as a stream.

    ``languages`` are those of source and target; ``skipped`` takes the line of every other entry, and why it is none.
    Raises DataError for a file that is none of these, and for one that is not in its format.
    """
    before = ""
    for (source, target), (after, _) in pairwise(chain(_pairs(path, languages, skipped), [("", "")])):
        yield Segment(source, target, before, after)
        before = source


def _pairs(path: Path, languages: tuple[str, str], skipped: Callable[[int, str], None]) -> Iterator[tuple[str, str]]:
    from anaphora.formats.entries.kinds import KINDS, kind_of, read_entries  # which translations do without

    kind = kind_of(path) or ("csv" if path.name.lower().removesuffix(".gz").endswith(".csv") else "")
    if kind in KINDS:
        rows = ((one.line, one.source, one.target, one.skipped) for one in read_entries(path, kind, languages))
    elif path.name.lower().removesuffix(".gz").endswith((".tsv", ".txt")):
        heading = languages_of_heading(path)
        backward = heading == languages[::-1] or (heading != languages and is_named_backward(path, languages))
        pairs = read_pairs(path, Layout((2, 1)) if backward else PLAIN, sides=languages, rejected=skipped)
        rows = ((one.line, one.source, one.target, "") for one in pairs)
    else:
        raise DataError(f"{path} should be TMX, PO, XLIFF, CSV or TSV, which have pairs: convert it to one of them.")
    for line, source, target, why in rows:
        if why := why or ("" if key_of(source) and key_of(target) else BLANK):
            skipped(line, why)
        else:
            yield source, target
