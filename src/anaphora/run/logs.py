"""Logs of a run folder, a JSON object a line: ``metrics.jsonl`` of training, ``evaluations.jsonl`` of what came after.

Metrics are appended as training goes, and cut back when it resumes. Evaluations are only added to, without a lock and
without touching another file, so that a run can be scored while it is being trained. A line that is damaged is passed
over: those after it are as good as ever.
"""

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from anaphora.errors import RunError
from anaphora.events import Note, Report, Validated, silent
from anaphora.files import DamagedError, append, lines, open_file, remedy, sync
from anaphora.formats.json_text import Jsonable, figures_as_json
from anaphora.records import Record

Line = TypeVar("Line")


class Metric(Record):
    name: str
    value: float | None
    """None where it was kept as one that is not finite, which JSON has no word for."""
    conditions: str
    """A signature, and what was done to the text before."""

    @property
    def shown(self) -> str:
        return "not finite" if self.value is None or not math.isfinite(self.value) else f"{self.value:.4f}"


class Evaluation(Record, Jsonable):
    """Metrics of one text."""

    date: str
    """ISO 8601, UTC."""
    split: str
    """Name of the text."""
    checkpoint: str
    """The checkpoint whose weights were measured: ``step-40``, or ``average``."""
    anaphora: str
    """The version that measured."""
    metrics: tuple[Metric, ...]
    digest: str = ""
    """SHA-256 of the text, which distinguishes two of one name; nothing in lines of older versions."""

    @property
    def text(self) -> str:
        """Name of the text, and the begin of its digest."""
        return f"{self.split} ({self.digest[:8]})" if self.digest else self.split


_OLD = {"part": "split", "figures": "metrics"}
"""Keys in lines of older versions."""


class _Log(ABC, Generic[Line]):
    """The lines of one file."""

    def __init__(self, path: Path) -> None:
        """``path`` is the file, which need not exist yet."""
        self.path = path

    def lines(self) -> list[Line]:
        """Return every whole line, the oldest first."""
        return [line for _, line in self._contents() if line is not None]

    def damaged_lines(self) -> list[int]:
        """Return the numbers, from 1, of lines that are none of this log; half a line of a killed process is one."""
        return [number for number, (_, line) in enumerate(self._contents(), 1) if line is None]

    def _contents(self) -> Iterator[tuple[bytes, Line | None]]:
        """Yield the bytes of each line, and the line; None for one that is damaged or was never finished."""
        for content in lines(self.path):
            yield content, self._parse(content)

    @abstractmethod
    def _parse(self, content: bytes) -> Line | None:
        """Return the line, or None."""


class MetricsLog(_Log[dict[str, Any]]):
    """The log of a training; every line is a JSON object with the number of its ``update``."""

    _failed = False

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
            raise RunError(f"{self.path} cannot be written to: {error.strerror}: {remedy(error)}.") from None

    def add_validation(self, event: Validated, report: Report) -> None:
        """Add the metrics of a validation, as ``add`` does; one that is not finite reads null."""
        figures = {name: value if math.isfinite(value) else None for name, value in event.metrics.items()}
        line = {"update": event.update, "epoch": event.epoch, "validation": figures, "best": event.best}
        self.add(line, report)

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

    def damaged_lines(self) -> list[int]:
        """Return the numbers, from 1, of lines that are no JSON objects; a last one that was never finished is none."""
        contents = enumerate(self._contents(), 1)
        return [number for number, (content, line) in contents if line is None and content.endswith(b"\n")]

    def validation(self, update: int) -> dict[str, float]:
        """Return the finite metrics of the validation after ``update``; nothing when there was none."""
        found: dict[str, float] = {}
        for line in self.lines():
            if line["update"] == update and "validation" in line:
                found = numbers_in(line["validation"])
        return found

    def _parse(self, content: bytes) -> dict[str, Any] | None:
        if not content.endswith(b"\n"):
            return None
        line = _parse_object(content)
        return line if isinstance(line.get("update"), int) else None


class EvaluationLog(_Log[Evaluation]):
    """The evaluations of one run folder."""

    def append(self, evaluation: Evaluation) -> None:
        """Add one line in one write; raises RunError when the folder will not take it."""
        content = figures_as_json(evaluation.json()).encode() + b"\n"
        try:
            # a process that was killed here may have left half a line, which must not swallow this one
            append(self.path, content if self._ends_whole() else b"\n" + content)
        except OSError as error:
            raise RunError(f"{self.path} cannot be written to: {error.strerror}; the scores are not stored.") from None

    def _parse(self, content: bytes) -> Evaluation | None:
        table = _parse_object(content)
        try:
            named = {_OLD.get(name, name): value for name, value in table.items()}
            return Evaluation.from_table(named, self.path, "an evaluation")
        except DamagedError:
            return None

    def _ends_whole(self) -> bool:
        if not os.path.lexists(self.path):
            return True
        with open_file(self.path) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            return file.read(1) in (b"\n", b"")


def _parse_object(content: bytes) -> dict[str, Any]:
    """Return a JSON object, None in it for numbers that are not finite; nothing for what is none."""
    try:
        found = json.loads(content, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def newest(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Return every metric as it came out last of the same text, checkpoint and conditions.

    What is left of each line.
    """
    seen: set[tuple[str, ...]] = set()
    found: list[Evaluation] = []
    for one in reversed(list(evaluations)):
        keys = [(one.split, one.digest, one.checkpoint, metric.name, metric.conditions) for metric in one.metrics]
        metrics = tuple(metric for metric, key in zip(one.metrics, keys, strict=True) if key not in seen)
        seen.update(keys)
        if metrics:
            found.append(replace(one, metrics=metrics))
    return found[::-1]


def numbers_in(figures: Any) -> dict[str, float]:
    """Return the numbers of a table of metrics; nothing where it is no table."""
    items = figures.items() if isinstance(figures, dict) else ()
    return {name: value for name, value in items if isinstance(value, float | int) and not isinstance(value, bool)}
