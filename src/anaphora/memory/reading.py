"""Segments of files: translation memories, documents and tables, each segment with its neighbours."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.entries.kinds import KINDS, kind_of, read_entries
from anaphora.formats.tsv import ignore, read_pairs
from anaphora.memory.segment import Segment, key_of

BLANK = "without text on both sides"
"""Why a pair is no segment."""


def segments_in(
    path: Path, languages: tuple[str, str], skipped: Callable[[int, str], None] = ignore
) -> Iterator[Segment]:
    """Return the segments of a TMX, PO, XLIFF, CSV or TSV file, gzipped or not, as a stream.

    ``languages`` are those of source and target; ``skipped`` takes the line of every other entry, and why it is none.
    Raises DataError for a file that is none of these, and for one that is not in its format.
    """
    return _with_neighbours(_pairs(path, languages, skipped))


def _pairs(path: Path, languages: tuple[str, str], skipped: Callable[[int, str], None]) -> Iterator[tuple[str, str]]:
    kind = kind_of(path) or ("csv" if path.name.lower().removesuffix(".gz").endswith(".csv") else "")
    if kind in KINDS:
        rows = ((one.line, one.source, one.target, one.skipped) for one in read_entries(path, kind, languages))
    elif path.name.lower().removesuffix(".gz").endswith((".tsv", ".txt")):
        rows = ((one.line, one.source, one.target, "") for one in read_pairs(path, sides=languages, rejected=skipped))
    else:
        raise DataError(f"{path} should be TMX, PO, XLIFF, CSV or TSV, which have pairs: convert it to one of them.")
    for line, source, target, why in rows:
        if why := why or ("" if key_of(source) and key_of(target) else BLANK):
            skipped(line, why)
        else:
            yield source, target


def _with_neighbours(pairs: Iterable[tuple[str, str]]) -> Iterator[Segment]:
    before = ""
    for (source, target), (after, _) in pairwise(chain(pairs, [("", "")])):
        yield Segment(source, target, before, after)
        before = source
