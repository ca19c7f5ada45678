"""``metrics.jsonl``: one line an update or a validation, appended as training goes, cut back when it resumes.

A line that is damaged is passed over: those after it are as good as ever.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anaphora.errors import RunError
from anaphora.events import Note, Report, silent
from anaphora.files import append, lines, sync


class MetricsLog:
    """The log of one run folder; every line is a JSON object with the number of its ``update``."""

    def __init__(self, path: Path) -> None:
        """``path`` is the file, which need not exist yet."""
        self.path = path
        self._failed = False

    def add(self, line: Mapping[str, Any], report: Report) -> None:
        """Append one line; where that fails, training continues one warning."""
        try:
            self.append(line)
            self._failed = False
        except RunError as error:
            if not self._failed:
                report(Note(f"{error} Training goes on without these lines.", warning=True))
            self._failed = True

    def append(self, line: Mapping[str, Any]) -> None:
        """Add one line; it outlives this process at once, and a loss of power after ``sync``."""
        content = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            append(self.path, content)
        except OSError as error:
            raise RunError(f"{self.path} cannot be written to: {error.strerror}: make room.") from None

    def note(self, update: int, fault: str) -> None:
        """Add a line that says that reports ended with ``update``, and why; nothing where that fails too."""
        self.add({"update": update, "note": f"Nothing could be reported from here on: {fault}."}, silent)

    def sync(self) -> None:
        """Wait until the disk has every line."""
        if self.path.exists():
            sync(self.path)

    def truncate(self, update: int) -> None:
        """Drop every line after ``update``, and whatever a killed process left of its last line."""
        end = place = 0
        for content, line in self._contents():
            if line is not None and line["update"] > update:
                break
            place += len(content)
            end = end if line is None else place
        if self.path.exists() and self.path.stat().st_size > end:
            os.truncate(self.path, end)

    def lines(self) -> list[dict[str, Any]]:
        """Return every whole line."""
        return [line for _, line in self._contents() if line is not None]

    def damaged(self) -> list[int]:
        """Return the numbers, from 1, of lines that are no JSON objects; a last one that was never finished is none."""
        return [
            number
            for number, (content, line) in enumerate(self._contents(), 1)
            if line is None and content.endswith(b"\n")
        ]

    def validation(self, update: int) -> dict[str, float]:
        """Return the finite metrics of the validation after ``update``; nothing when there was none."""
        found: dict[str, float] = {}
        for line in self.lines():
            if line["update"] == update and "validation" in line:
                found = numbers_in(line["validation"])
        return found

    def _contents(self) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
        """Yield the bytes of each line, and the line; None for one that is damaged or was never finished."""
        for content in lines(self.path):
            yield content, _parsed(content)


def numbers_in(figures: Any) -> dict[str, float]:
    """Return the numbers of a table of metrics; nothing where it is no table."""
    items = figures.items() if isinstance(figures, dict) else ()
    return {name: value for name, value in items if isinstance(value, float | int) and not isinstance(value, bool)}


def _parsed(content: bytes) -> dict[str, Any] | None:
    if not content.endswith(b"\n"):
        return None
    try:
        line = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("update"), int) else None
