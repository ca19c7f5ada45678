"""Columns of numbers on disk: written once, mapped into memory, and verified block by block as they are read.

A table is a folder with a file for each column, little-endian, and ``header.json``: what the table was made from, and
the name, type and count of every column with a SHA-256 of each of its blocks. The header has a SHA-256 of itself. All
files are on the disk before the folder gets its name. A block is compared with its digest when something in it is first
read; where it differs, the table is made again from what it was made from, and reading goes on. Nothing in it can
execute.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np

from anaphora import files
from anaphora.errors import AnaphoraError, DataError
from anaphora.events import Note, Progress, Report
from anaphora.files import DamagedError, sha256
from anaphora.kernels.runtime import current

Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any] | np.unsignedinteger[Any]]]
Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Places = np.ndarray[Any, np.dtype[np.integer[Any]]]

UNBOUNDED = 1 << 63
"""Bound of columns whose numbers have none that is known before they are written."""

Bound = int | np.dtype[Any]
"""Range of a column: whole numbers below a bound, or floating-point numbers of a type."""

FLOATS = np.dtype("<f4")
"""Type of columns of finite real numbers in single precision."""

BLOCK = 1 << 20
"""Bytes of a block, but for the last one of a column."""

_FORMAT = 2
_HEADER = "header.json"
_LARGEST_HEADER = 1 << 28
EVERY = 1000
"""Lines between two Progress events."""


class Column:
    """Numbers in a file, read like an array of one dimension; DataError where the file was changed."""

    def __init__(self, name: str, below: Bound, mend: Callable[[str], None]) -> None:
        """Numbers within ``below``; ``mend``, told what is wrong, makes the file again."""
        self._name, self._below, self._mend = name, below, mend
        self._values: Integers = np.empty(0, dtype=np.int64)
        self._digests: Sequence[str] = ()
        self._per_block = BLOCK
        self._open_blocks: set[int] = set()

    def map(self, folder: Path, entry: Mapping[str, Any]) -> None:
        """Take the file in ``folder`` that an ``entry`` of the header describes; DamagedError where it cannot be."""
        dtype, count, digests = _type_of(self._below), int(entry["count"]), list(entry["sha256"])
        path, size = folder / self._name, count * dtype.itemsize
        if entry["name"] != self._name or entry["dtype"] != dtype.str or len(digests) != -(-size // BLOCK):
            raise DamagedError(f"{folder / _HEADER} does not describe {self._name}.")
        with files.open_file(path) as file:
            files.demand_size(file, path, size)
            # an empty file cannot be mapped; a plain array is read several times faster than a memory map
            self._values = np.asarray(np.memmap(file, dtype, "r", shape=(count,)) if count else np.empty(0, dtype))
        self._digests, self._per_block = digests, BLOCK // dtype.itemsize
        self._open_blocks = set(range(len(digests)))

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, key: int) -> int: ...
    @overload
    def __getitem__(self, key: slice | Places) -> Integers: ...
    def __getitem__(self, key: int | slice | Places) -> int | Integers:
        """Return a number, a view of a stretch, or the numbers at given places."""
        if self._open_blocks:
            self._verify(key)
        return self._values[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Integers:
        """Return all of it, for numpy."""
        return np.array(self[:], dtype=dtype, copy=copy)

    def _verify(self, key: int | slice | Places) -> None:
        """Compare the blocks that ``key`` reaches with their digests, unless that was done before."""
        touched: Iterable[int]
        if isinstance(key, slice):
            begin, end, _ = key.indices(len(self))
            touched = range(begin // self._per_block, -(-end // self._per_block) if end > begin else 0)
        else:
            touched = np.unique(np.asarray(key) % max(1, len(self)) // self._per_block).tolist()
        for block in touched:
            if block in self._open_blocks and (fault := self._fault(block)):
                self._mend(fault)
                if fault := self._fault(block):
                    raise DataError(f"{fault} It was just made again: the disk or the memory may be failing.")
            self._open_blocks.discard(block)

    def _fault(self, block: int) -> str:
        values = self._values[block * self._per_block : (block + 1) * self._per_block]
        where = f"Block {block} of {self._name}"
        if sha256(values.tobytes()) != self._digests[block]:
            return f"{where} was changed after it was written: its SHA-256 differs."
        if not isinstance(self._below, int):
            return "" if np.isfinite(values).all() else f"{where} has numbers that are not finite."
        most = int(values.max())
        return f"{where} has {most:,}, but all should be below {self._below:,}." if most >= self._below else ""


class Writer:
    """The growing columns of a table."""

    def __init__(
        self, streams: Mapping[str, BinaryIO], columns: Mapping[str, Bound], tell: Callable[[int], None]
    ) -> None:
        """``tell`` is called with the number of lines that are done; see ``Table`` for ``columns``."""
        self._columns = {name: _Growing(file, _type_of(columns[name])) for name, file in streams.items()}
        self.tell = tell
        for name in columns:
            if name.endswith(".ends"):
                self.write(name, [0])

    def write(self, column: str, values: Sequence[int] | Integers | Floats) -> None:
        """Append numbers to a column."""
        self._columns[column].write(values)

    def add(self, rows: str, row: Sequence[int]) -> None:
        """Append a row to a ragged pair of columns, its numbers and where each row ends."""
        self.write(f"{rows}.ids", row)
        self.write(f"{rows}.ends", [self._columns[f"{rows}.ids"].count])

    def extend(self, rows: str, numbers: Integers | Floats, lengths: Integers) -> None:
        """Append rows to a ragged pair of columns: N numbers, or N x width, and how many positions each row has."""
        width = numbers.shape[1] if numbers.ndim > 1 else 1
        ends = self._columns[f"{rows}.ids"].count // width + np.cumsum(lengths, dtype=np.int64)
        self.write(f"{rows}.ids", numbers.ravel())
        self.write(f"{rows}.ends", ends)

    def finish(self) -> list[dict[str, Any]]:
        """Wait until the disk has every column; what the header says of them."""
        return [{"name": name} | column.finish() for name, column in self._columns.items()]


class _Growing:
    def __init__(self, file: BinaryIO, dtype: np.dtype[Any]) -> None:
        self._file, self._dtype, self.count = file, dtype, 0
        self._digests, self._rest = list[str](), b""

    def write(self, values: Sequence[int] | Integers | Floats) -> None:
        content = np.array(values, dtype=self._dtype).tobytes()
        self._file.write(content)
        self.count += len(values)
        self._rest += content
        while len(self._rest) >= BLOCK:
            self._close_block()

    def finish(self) -> dict[str, Any]:
        if self._rest:
            self._close_block()
        self._file.flush()
        os.fsync(self._file.fileno())
        return {"dtype": self._dtype.str, "count": self.count, "sha256": self._digests}

    def _close_block(self) -> None:
        self._digests.append(sha256(self._rest[:BLOCK]))
        self._rest = self._rest[BLOCK:]


class Table:
    """Columns by name, and facts about them: from ``folder`` if they were made there before, else made now."""

    def __init__(
        self,
        folder: Path,
        identity: Sequence[object],
        columns: Mapping[str, Bound],
        fill: Callable[[Writer], Mapping[str, int]],
        *,
        task: str,
        total: int,
        report: Report,
    ) -> None:
        """``identity`` (JSON) is all that the content depends on, ``columns`` the bounds of their numbers by name.

        ``fill`` writes the content and returns the facts, told as ``task`` over ``total`` lines. Raises DataError when
        the folder cannot be written.
        """
        self._folder, self._identity, self._bounds, self._fill = folder, list(identity), columns, fill
        self._task, self._total, self._report = task, total, report
        self._columns = {name: Column(name, below, self._mend) for name, below in columns.items()}
        self._header: Mapping[str, Any] = {}
        try:
            there = self._open()
        except DamagedError as error:
            self._say_again(str(error))
            there = False
        if not there:
            self._make()

    @property
    def facts(self) -> Mapping[str, int]:
        """Return what ``fill`` returned."""
        return {str(name): int(value) for name, value in self._header["facts"].items()}

    @property
    def digest(self) -> str:
        """SHA-256 of all columns."""
        return str(self._header["sha256"])

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def _open(self) -> bool:
        """Map what is in the folder; False when there is nothing, or something made from something else."""
        path = self._folder / _HEADER
        if not path.exists():
            return False
        header = files.read_json(path, _LARGEST_HEADER)
        if header.get("format") != _FORMAT:
            return False
        if not files.is_sealed(header):
            raise DamagedError(f"{path} was changed after it was written: its content does not fit its own SHA-256.")
        if header["identity"] != self._identity:
            return False
        for column, entry in zip(self._columns.values(), header["columns"], strict=True):
            column.map(self._folder, entry)
        self._header = header
        return True

    def _make(self) -> None:
        if rank := current().rank:
            raise DataError(
                f"{self._folder} was changed while rank {rank} read it, and rank 0 alone can make it again: "
                f"remove it, then resume."
            )
        part = files.part_of(self._folder)
        try:
            files.sweep(self._folder.parent, self._folder)
            files.remove(part)
            part.mkdir(parents=True)
            with ExitStack() as open_files:
                streams = {name: open_files.enter_context((part / name).open("wb")) for name in self._bounds}
                into = Writer(streams, self._bounds, self._tell)
                facts = self._fill(into)
                entries = into.finish()
            header = {"format": _FORMAT, "identity": self._identity, "facts": facts, "columns": entries}
            files.write_durably(part / _HEADER, files.json_bytes(files.seal(header)))
            files.sync(part)
            files.remove(self._folder)
            part.rename(self._folder)
            files.sync(self._folder.parent)
        except OSError as error:
            raise DataError(f"{self._folder} cannot be written: {error.strerror or error}.") from error
        finally:
            if part.exists():
                files.remove(part)
        try:
            there = self._open()
        except DamagedError as error:
            raise DataError(f"{error} It was just written: is another run using it?") from None
        if not there:
            raise DataError(f"{self._folder} changed while it was written: is another run using it?")

    def _mend(self, fault: str) -> None:
        """Make the table again, which has to become what it was."""
        before = self._header["columns"]
        self._say_again(f"{self._folder}: {fault}")
        self._make()
        if self._header["columns"] != before:
            raise DataError(
                f"{self._folder} was damaged, and what it was made from has changed since: "
                f"restore the corpus, then resume the run."
            )

    def _say_again(self, fault: str) -> None:
        self._report(Note(f"{fault} It is made again ({self._task}).", warning=True))

    def _tell(self, lines: int) -> None:
        """Say how far the work is, now and then."""
        if lines % EVERY == 0 or lines == self._total:
            self._report(Progress(self._task, lines, self._total, "lines"))


def stored_column(folder: Path, name: str, below: Bound) -> Integers | None:
    """Return the numbers of a column of a table made before, whatever it was made from; None if it is not whole."""
    column = Column(name, below, lambda fault: None)
    try:
        header = files.read_json(folder / _HEADER, _LARGEST_HEADER)
        if header["format"] == _FORMAT and files.is_sealed(header):
            column.map(folder, {entry["name"]: entry for entry in header["columns"]}[name])
            return column[:]
    except (AnaphoraError, OSError, KeyError, TypeError, ValueError):
        pass
    return None


def _type_of(below: Bound) -> np.dtype[Any]:
    """Return the smallest type for whole numbers below a bound, or the type that was given."""
    if not isinstance(below, int):
        return below
    names = ((1 << 8, "<u1"), (1 << 16, "<u2"), (1 << 32, "<u4"), (UNBOUNDED, "<i8"))
    return np.dtype(next(name for most, name in names if below <= most))
