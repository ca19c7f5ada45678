"""Lines that come twice, in a part or in two, in bounded memory: hashes on disk, looked at a slice at a time.

A record is 23 bytes; records fall into 64 files by the hash of their source, so that all that could be equal lies in
one file, and a corpus of 100 million pairs takes 2.3 GB of disk and about 100 MB of memory while it is looked at.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.data.check.findings import SHOWN, Place, Tally
from anaphora.text.normalise import normalise

Records = np.ndarray[Any, np.dtype[np.void]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Places = np.ndarray[Any, np.dtype[np.int64]]

_RECORD = np.dtype([("source", "<u8"), ("target", "<u8"), ("part", "u1"), ("file", "<u2"), ("line", "<u4")])
_SLICES = 64
_BUFFERED = 1 << 14
TRAIN = 0
"""The number of the training part."""


class Repeats:
    """Collects lines, then tells which of them repeat; spaces at the ends and runs of them make no difference."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is empty, and removed by whoever made it."""
        self._folder = folder
        self._files: dict[Path, int] = {}
        self._buffer: list[tuple[int, int, int, int, int]] = []

    def add(self, part: int, file: Path, line: int, source: str, target: str = "") -> None:
        """Take note of a pair, or of a line of running text; ``part`` 0 is the training part."""
        number = self._files.setdefault(file, len(self._files))
        self._buffer.append((_hash(source), _hash(target), part, number, line))
        if len(self._buffer) >= _BUFFERED:
            self._flush()

    def results(self, parts: int) -> list[dict[str, Tally]]:
        """For every part what of it is "duplicate", "ambiguous", "overlap" and "source-overlap"."""
        self._flush()
        found = [_Candidates() for _ in range(parts)]
        for records in self._slices():
            _look(records, found)
        files = list(self._files)
        return [candidates.tallies(files) for candidates in found]

    def _flush(self) -> None:
        records = np.array(self._buffer, dtype=_RECORD)
        self._buffer.clear()
        slices = records["source"] % _SLICES
        for number in np.unique(slices):
            with (self._folder / f"{number}.records").open("ab") as stream:
                stream.write(records[slices == number].tobytes())

    def _slices(self) -> Iterator[Records]:
        for path in sorted(self._folder.glob("*.records")):
            yield np.fromfile(path, dtype=_RECORD)


class _Candidates:
    """The repeats of a part: counts, and the first places of each kind."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[tuple[int, int, int, int]]] = {}

    def add(self, kind: str, lines: Records, before: Records) -> None:
        """``lines`` repeat ``before``, row by row."""
        self._counts[kind] = self._counts.get(kind, 0) + len(lines)
        order = np.lexsort((lines["line"], lines["file"]))[:SHOWN]
        rows = [
            (int(line["file"]), int(line["line"]), int(other["file"]), int(other["line"]))
            for line, other in zip(lines[order], before[order], strict=True)
        ]
        self._first[kind] = sorted([*self._first.get(kind, []), *rows])[:SHOWN]

    def tallies(self, files: Sequence[Path]) -> dict[str, Tally]:
        """Counts and places by kind."""

        def place(file: int, line: int, other_file: int, other_line: int) -> Place:
            other = str(other_line) if other_file == file else f"{files[other_file].name}:{other_line}"
            return Place(files[file], line, f"as {other}")

        return {kind: Tally(count, [place(*row) for row in self._first[kind]]) for kind, count in self._counts.items()}


def _look(records: Records, found: Sequence[_Candidates]) -> None:
    """Everything that one slice tells."""
    order = np.lexsort((records["line"], records["file"], records["part"], records["target"], records["source"]))
    ordered = records[order]
    for part, candidates in enumerate(found):
        own = ordered[ordered["part"] == part]
        if not len(own):
            continue
        first = _starts(own, "source", "target")
        candidates.add("duplicate", own[~first], own[_latest(first)][~first])
        distinct = own[first]
        distinct = distinct[np.lexsort((distinct["line"], distinct["file"], distinct["source"]))]
        again = ~_starts(distinct, "source")
        candidates.add("ambiguous", distinct[again], distinct[_latest(~again)][again])
        if part != TRAIN:
            _overlap(own, ordered[ordered["part"] == TRAIN], candidates)


def _overlap(own: Records, train: Records, candidates: _Candidates) -> None:
    if not len(train):
        return
    sources, pairs = _place(train["source"], own["source"]), _place(_pairs(train), _pairs(own))
    same, other = pairs >= 0, (pairs < 0) & (sources >= 0)
    candidates.add("overlap", own[same], train[pairs[same]])
    candidates.add("source-overlap", own[other], train[sources[other]])


def _place(keys: Hashes, wanted: Hashes) -> Places:
    """Where each wanted key stands first among the keys, -1 where it does not."""
    order = np.argsort(keys, kind="stable")
    places = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where(keys[places] == wanted, places, -1)


def _pairs(rows: Records) -> Hashes:
    """One hash of both sides."""
    return np.asarray(rows["source"] * np.uint64(0x9E3779B97F4A7C15) + rows["target"])


def _starts(rows: Records, *columns: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether a row begins a run of rows that are equal in the columns."""
    starts = np.ones(len(rows), dtype=bool)
    if len(rows):
        starts[1:] = np.logical_or.reduce([rows[column][1:] != rows[column][:-1] for column in columns])
    return starts


def _latest(starts: np.ndarray[Any, np.dtype[np.bool_]]) -> Places:
    """For every row the number of the row that its run begins with."""
    return np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))


def _hash(text: str) -> int:
    plain = " ".join(normalise(text).split())
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), "little")
