"""Lines that occur twice, in a split or in two, in bounded memory: hashes on disk, compared a slice at a time.

A record is 23 bytes; records fall into 64 files by the hash of their source, so that all that could be equal is in
one file, and a corpus of 100 million pairs takes 2.3 GB of disk and about 100 MB of memory to compare.

Of a large training split a sample of sources is compared, each with all of its lines, so that the fraction that repeats
is that of the sample. Sources that a held-out split has are always found.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from heapq import nsmallest
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.datacheck.findings import SHOWN, Place, Tally
from anaphora.text.normalise import normalise

Records = np.ndarray[Any, np.dtype[np.void]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]

_RECORD = np.dtype([("source", "<u8"), ("target", "<u8"), ("split", "u1"), ("file", "<u2"), ("line", "<u4")])
_SLICES = 64
_BUFFERED = 1 << 14
TRAIN = 0
"""The number of the training split."""
_REST = 255
"""The number of its lines that are not in the sample, but have a source of a held-out split."""


class Repeats:
    """Collects lines, then finds those that repeat, whatever white space is around or between their words."""

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
        """For every split its "duplicate", "ambiguous", "overlap" and "source-overlap" lines."""
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


def _repeats(records: Records, split: int) -> Iterator[tuple[str, Records, Records]]:
    """The repeats of a split in one slice: kind, lines, and the earlier line that each of them repeats."""
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
    """The first row of the keys that has each wanted key, or -1."""
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
