"""Results of reading large files, kept in the user's cache folder, so that a resumed run need not read them again.

A file counts as untouched while its place, size, times and inode are what they were before it was read. Files that
changed just before are read again the next time, since a clock may not tell two changes apart. What is kept belongs to
one version of this package.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from anaphora.data.fetch import data_home
from anaphora.events import Event, Note, Report, Skipped
from anaphora.files import DamagedError, is_sealed, json_bytes, read_json, replace_durably, seal, sha256
from anaphora.version import VERSION

SMALL = 1 << 25
"""Bytes of files together that are read again in a moment."""
_SETTLED = 2 * 10**9
"""Nanoseconds since the last change of a file, so that a later one has another time."""
_LARGEST = 1 << 27

Facts = dict[str, Any]
"""Results of a reading, as JSON has them."""


def known_or_read(
    paths: Sequence[Path], choices: Sequence[str], read: Callable[[Report], Facts], report: Report
) -> Facts:
    """Return what ``read`` returned for untouched files and the same ``choices`` before, or call it.

    The notes that it reported are reported again.
    """
    states = _states(paths)
    if sum(size for _, size, *_ in states) < SMALL:
        return read(report)
    key = sha256(json.dumps([VERSION, *choices]).encode())
    kept_at = data_home() / "readings" / f"{key}.json"
    with suppress(DamagedError):
        kept = read_json(kept_at, _LARGEST)
        if is_sealed(kept) and kept["files"] == states:
            for kind, *fields in kept["events"]:
                report({"note": Note, "skipped": Skipped}[kind](*fields))
            return dict(kept["facts"])
    events: list[list[Any]] = []

    def keeping(event: Event) -> None:
        if isinstance(event, Note | Skipped):
            events.append([type(event).__name__.lower(), *astuple(event)])
        report(event)

    started = time.time_ns()
    facts = read(keeping)
    if _states(paths) == states and all(max(times) < started - _SETTLED for _, _, _, _, *times in states):
        with suppress(OSError):  # the next run reads the files again
            kept_at.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(kept_at, json_bytes(seal({"files": states, "events": events, "facts": facts})))
    return facts


def _states(paths: Sequence[Path]) -> list[list[Any]]:
    """Return the place, size, device, inode and times of files; nothing for one that is missing."""
    states: list[list[Any]] = []
    with suppress(OSError):
        for path in paths:
            found = path.stat()
            times = found.st_mtime_ns, found.st_ctime_ns
            states.append([str(path.absolute()), found.st_size, found.st_dev, found.st_ino, *times])
    return states
