"""``evaluations.jsonl``: what was measured of a run after training, a line a text, never changed, only added to.

Adding a line takes no lock and touches no other file, so that a run can be scored while it is being trained.
"""

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field, TypeAdapter, ValidationError

from anaphora.errors import RunError
from anaphora.files import append, lines, opened
from anaphora.formats.json_text import Jsonable, figures_as_json


@dataclass(frozen=True)
class Metric:
    name: str
    value: float | None
    """None where it was kept as one that is not finite, which JSON has no word for."""
    conditions: str
    """A signature, and what was done to the text before."""

    @property
    def shown(self) -> str:
        return "not finite" if self.value is None or not math.isfinite(self.value) else f"{self.value:.4f}"


@dataclass(frozen=True)
class Evaluation(Jsonable):
    """Metrics of one text."""

    date: str
    """ISO 8601, UTC."""
    split: Annotated[str, Field(validation_alias=AliasChoices("split", "part"))]
    """Name of the text; ``part`` in lines of older versions, as ``metrics`` are ``figures``."""
    checkpoint: str
    """The checkpoint whose weights were measured: ``step-40``, or ``average``."""
    anaphora: str
    """The version that measured."""
    metrics: Annotated[tuple[Metric, ...], Field(validation_alias=AliasChoices("metrics", "figures"))]
    digest: str = ""
    """SHA-256 of the text, which distinguishes two of one name; nothing in lines of older versions."""

    @property
    def text(self) -> str:
        """Name of the text, and the begin of its digest."""
        return f"{self.split} ({self.digest[:8]})" if self.digest else self.split


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


_LINE = TypeAdapter(Evaluation)


class EvaluationLog:
    """The evaluations of one run folder."""

    def __init__(self, path: Path) -> None:
        """``path`` is the file, which need not exist yet."""
        self.path = path

    def append(self, evaluation: Evaluation) -> None:
        """Add one line in one write; raises RunError when the folder will not take it."""
        content = figures_as_json(evaluation.json()).encode() + b"\n"
        try:
            # a process that was killed here may have left half a line, which must not swallow this one
            append(self.path, content if self._ends_whole() else b"\n" + content)
        except OSError as error:
            raise RunError(f"{self.path} cannot be written to: {error.strerror}; the scores are not stored.") from None

    def lines(self) -> list[Evaluation]:
        """Return every whole line, the oldest first."""
        return [line for line in self._contents() if line is not None]

    def damaged(self) -> list[int]:
        """Return the numbers, from 1, of lines that are no evaluations; half a line of a killed process is one too."""
        return [number for number, line in enumerate(self._contents(), 1) if line is None]

    def _contents(self) -> Iterator[Evaluation | None]:
        for content in lines(self.path):
            try:
                yield _LINE.validate_json(content)
            except ValidationError:
                yield None

    def _ends_whole(self) -> bool:
        if not os.path.lexists(self.path):
            return True
        with opened(self.path) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            return file.read(1) in (b"\n", b"")
