"""Segments on disk: one SQLite file, which a killed process leaves as it was before or after what it added.

Segments are added and removed, never changed. One process writes at a time, and others wait for it a few seconds;
all read meanwhile. The file may come from elsewhere with a run folder: one with any other tables, views or triggers
than ours is refused, and so is a link.
"""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from anaphora.errors import RunError
from anaphora.memory.segment import Segment, key_of

NAME = "memory.sqlite"
_ENDINGS = ("", "-wal", "-shm", "-journal")
FILES = tuple(f"{NAME}{ending}" for ending in _ENDINGS)
"""Files of a memory in a run folder; the last three while it is open."""

PATIENCE = 10.0
"""Seconds to wait for another process that writes."""
_FORMAT = 1
_PAGE = 1_000
"""Segments that are read at once, between which others may write."""
_SCHEMA = (
    "CREATE TABLE segments (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, source TEXT NOT NULL, "
    "target TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, origin TEXT NOT NULL, added REAL NOT NULL, "
    "times INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX segments_once ON segments (key, target, before, after, origin, added)",
)
_COLUMNS = "source, target, before, after, origin, added, times, number"
_TYPES = (*[str] * 5, float, int, int)
_LAST_DAY = 250_000_000_000
"""Seconds from 1970 to a day that calendars still have."""
_NAMES_OTHERS = bytes.fromhex("d9d505f920a163d7")
"""The end of a journal that names another file, which SQLite would read and remove."""
_REFUSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""Codes of a file that cannot be opened in a way, or not be written to."""

_INSERT = (
    "INSERT INTO segments (key, source, target, before, after, origin, added, times) "
    "SELECT :key, :source, :target, :before, :after, :origin, :added, 1"
)


class Store:
    """The segments of one run folder. It may be used by several threads."""

    def __init__(self, folder: Path, *, create: bool = False, pair: str = "") -> None:
        """Open the memory of a run folder, and make it where there is none and ``create`` says so.

        ``pair`` names the languages of a run of several, which has a memory for each. Raises RunError where there is
        none, and for a file that is damaged or no memory.
        """
        self.path = folder / (f"memory.{pair}.sqlite" if pair else NAME)
        self._lock = threading.RLock()
        self._check_file(pair, create=create)
        with self._faults(), ExitStack() as opened:
            self._database = opened.enter_context(closing(self._open(create)))
            self._check_content(create)
            opened.pop_all()

    def close(self) -> None:
        """Close the file; nothing is found afterwards."""
        with self._lock:
            self._database.close()

    def add(self, segments: Iterable[Segment], origin: str) -> int:
        """Add the segments of a file, all or none; returns how many are new.

        Those of one call and alike in all count as one that occurs several times. A file can be added again: its
        segments that are there with the same ``origin`` stay as they are. Raises RunError where the memory cannot be
        written to, and what ``segments`` raises.
        """
        now = time.time()
        with self._writing():
            before = self._count()
            self._database.executemany(
                f"{_INSERT} WHERE NOT EXISTS (SELECT 1 FROM segments WHERE key = :key AND target = :target "
                "AND before = :before AND after = :after AND origin = :origin AND added <> :added) "
                "ON CONFLICT (key, target, before, after, origin, added) DO UPDATE SET times = times + 1",
                (_values(one._replace(origin=origin, added=now)) for one in segments),
            )
            return self._count() - before

    def add_again(self, segment: Segment) -> int:
        """Add a segment, whether it is there or not; returns its number."""
        with self._writing():
            return int(self._database.execute(_INSERT, _values(segment._replace(added=time.time()))).lastrowid or 0)

    def remove(self, numbers: Sequence[int]) -> int:
        """Remove segments for good; returns how many there were. Raises RunError where that cannot be done."""
        with self._writing():
            removed = self._database.executemany("DELETE FROM segments WHERE number = ?", ((one,) for one in numbers))
            return removed.rowcount

    def remove_origin(self, origin: str) -> int:
        """Remove all segments of an origin for good; returns how many there were."""
        with self._writing():
            return self._database.execute("DELETE FROM segments WHERE origin = ?", (origin,)).rowcount

    def of_key(self, key: str) -> list[Segment]:
        """Return the segments whose source is a text, white space apart, in the order in which they were added."""
        return self._read("WHERE key = ? ORDER BY number", key)

    def by_numbers(self, numbers: Sequence[int]) -> dict[int, Segment]:
        """Return the segments of some numbers, as far as there are any, by their numbers."""
        marks = ", ".join("?" * len(numbers))
        return {one.number: one for one in self._read(f"WHERE number IN ({marks})", *numbers)}

    def after(self, number: int) -> Iterator[Segment]:
        """Yield the segments with a higher number, in the order in which they were added."""
        while page := self._read("WHERE number > ? ORDER BY number LIMIT ?", number, _PAGE):
            yield from page
            number = page[-1].number

    def sources_after(self, number: int) -> list[tuple[int, str]]:
        """Numbers and source texts of the next segments with a higher number, a page of them; none at the end."""
        query = "SELECT number, source FROM segments WHERE number > ? ORDER BY number LIMIT ?"
        return self._rows(query, (int, str), number, _PAGE)

    def origins(self) -> dict[str, int]:
        """Return the number of segments of every origin."""
        return dict(self._rows("SELECT origin, count(*) FROM segments GROUP BY origin ORDER BY origin", (str, int)))

    def __len__(self) -> int:
        with self._faults():
            return self._count()

    def _count(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM segments").fetchone()[0])

    def _read(self, condition: str, *values: object) -> list[Segment]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM segments {condition}", _TYPES, *values)
        found = [Segment(*row) for row in rows]
        for one in found:
            if not 0 <= one.added < _LAST_DAY:
                raise RunError(f"{self.path} is damaged: its segment {one.number} has no date that can be read.")
        return found

    def _rows(self, query: str, types: Sequence[type], *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; RunError where a column has a value of another type, which SQLite would keep."""
        with self._faults(), closing(self._database.cursor()) as cursor:
            found = list(cursor.execute(query, values))
        if not all(all(map(isinstance, row, types)) for row in found):
            raise RunError(f"{self.path} is damaged: it has values of other types than a memory's; restore it.")
        return found

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._faults():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.rollback()
                raise
            self._database.commit()

    def _check_file(self, pair: str, *, create: bool) -> None:
        """Raise RunError where SQLite would wait for, follow or remove what is not a file of ours."""
        run = self.path.parent
        if run.is_file():
            raise RunError(f"{run} is a file, which has no translation memory: give the run folder.")
        if not create and not os.path.lexists(self.path):
            of, how = (f" of {pair}", ", for the same languages (to, source)") if pair else ("", "")
            raise RunError(
                f"{run} has no translation memory{of}: add segments with anaphora memory {run} add FILE{how}."
            )
        for path in (self.path.with_name(f"{self.path.name}{ending}") for ending in _ENDINGS):
            if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
                raise RunError(f"{path} should be a regular file, but is a link, a folder or a pipe: move it away.")
        with suppress(OSError), path.open("rb") as file:  # of the journal, the only one whose closing frees no lock
            file.seek(-len(_NAMES_OTHERS), os.SEEK_END)
            if file.read() == _NAMES_OTHERS:
                raise RunError(f"{path} names another file, which no journal of a memory does: move it away.")

    def _open(self, create: bool) -> sqlite3.Connection:
        """Return a connection: for writing where that is allowed, else for reading."""
        address = self.path.absolute().as_uri()
        for mode in ("rwc" if create else "rw", "ro", "ro&immutable=1"):
            # transactions begin where we say so; the callers of a connection take turns
            database = sqlite3.connect(
                f"{address}?mode={mode}", timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True
            )
            try:
                for setting in ("trusted_schema = OFF", "cell_size_check = ON", "secure_delete = ON"):
                    database.execute(f"PRAGMA {setting}")
                database.execute("SELECT count(*) FROM sqlite_schema")
                if mode.startswith("rw"):
                    database.execute("PRAGMA journal_mode = WAL")
                    database.execute("PRAGMA synchronous = FULL")
            except sqlite3.DatabaseError as error:
                database.close()
                if create or mode.endswith("immutable=1") or error.sqlite_errorcode & 0xFF not in _REFUSED:
                    raise
            else:
                return database
        raise AssertionError("the last mode returns or raises")

    def _check_content(self, create: bool) -> None:
        """Make the tables of a new file; of any other the tables have to be ours."""
        if create and not self._schema():
            with self._writing():
                if not self._schema():  # another process may have been first
                    for statement in (*_SCHEMA, f"PRAGMA user_version = {_FORMAT}"):
                        self._database.execute(statement)
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version > _FORMAT:
            raise RunError(
                f"{self.path} has format {version}, but this Anaphora reads up to {_FORMAT}: upgrade Anaphora."
            )
        if not self._schema():
            raise RunError(f"{self.path} is an empty database, without segments: remove it, or add some again.")
        if self._schema() != set(_SCHEMA):
            raise RunError(f"{self.path} is no translation memory, since it has other tables: move it away.")

    def _schema(self) -> set[str]:
        own = "SELECT sql FROM sqlite_schema WHERE (type, name) <> ('table', 'sqlite_sequence')"
        return {str(row[0]) for row in self._database.execute(own)}

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Let one thread at a time in, and turn what SQLite raises into RunErrors that say what to do."""
        try:
            with self._lock:
                yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", None)  # none from Python, for text that is not UTF-8
            if code is None or not isinstance(error, sqlite3.OperationalError):
                raise RunError(f"{self.path} is damaged ({error}): restore it from a copy, or move it away.") from None
            if code & 0xFF == sqlite3.SQLITE_BUSY:
                raise RunError(f"{self.path} is in use by another process that writes: try again later.") from None
            raise RunError(f"{self.path} cannot be used: {error}; make its folder writable, or make room.") from None


def _values(segment: Segment) -> dict[str, Any]:
    return {**segment._asdict(), "key": key_of(segment.source)}
