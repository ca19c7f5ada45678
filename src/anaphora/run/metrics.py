"""``metrics.jsonl``: one line an update or a validation, appended as training goes, cut back when it resumes."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anaphora.errors import RunError
from anaphora.run.files import append, sync


class MetricsLog:
    """The log of one run folder; every line is a JSON object with the number of its ``update``."""

    def __init__(self, path: Path) -> None:
        """``path`` is the file, which need not exist yet."""
        self.path = path

    def append(self, line: Mapping[str, Any]) -> None:
        """Add one line; it outlives this process at once, and a loss of power after ``sync``."""
        content = (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            append(self.path, content)
        except OSError as error:
            raise RunError(f"{self.path} cannot be written to: {error.strerror}; make room and resume.") from None

    def sync(self) -> None:
        """Wait until the disk has every line."""
        if self.path.exists():
            sync(self.path)

    def truncate(self, update: int) -> None:
        """Drop every line after ``update``, and whatever a killed process left of its last line."""
        end = sum(size for _, size in self._until(update))
        if self.path.exists() and self.path.stat().st_size > end:
            os.truncate(self.path, end)

    def lines(self) -> list[dict[str, Any]]:
        """Every whole line."""
        return [line for line, _ in self._until(None)]

    def validation(self, update: int) -> dict[str, float]:
        """The finite figures of the validation after ``update``; nothing when there was none."""
        found: dict[str, float] = {}
        for line in self.lines():
            figures = line.get("validation")
            if line["update"] == update and isinstance(figures, dict):
                found = {name: value for name, value in figures.items() if isinstance(value, float | int)}
        return found

    def _until(self, update: int | None) -> Iterator[tuple[dict[str, Any], int]]:
        """Lines with their sizes in bytes, up to the first that is broken or belongs to a later update."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for content in file:
                line = _parsed(content)
                if line is None or (update is not None and line["update"] > update):
                    return
                yield line, len(content)


def _parsed(content: bytes) -> dict[str, Any] | None:
    if not content.endswith(b"\n"):
        return None
    try:
        line = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("update"), int) else None
