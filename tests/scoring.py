"""Runs evaluated as the command line does."""

from pathlib import Path
from typing import Any

from anaphora.events import Report, silent
from anaphora.formats.lines import read_lines
from anaphora.tasks.evaluation import Answer, Request, Results, Text
from anaphora.tasks.runs import task_at


def assess(path: Path, report: Report = silent, *, keep: bool = False, **asked: Any) -> Results:
    """The scores of one run by split; ``asked`` are fields of a ``Request``."""
    return compare(path, report=report, keep=keep, **asked).scored[0].results


def compare(*paths: Path, report: Report = silent, keep: bool = False, **asked: Any) -> Answer:
    """The scores of several."""
    if isinstance(text := asked.get("text"), Path):
        asked["text"] = Text(text.name, read_lines(text))
    return task_at(paths[0]).evaluate(paths, Request(keep=keep, **asked), report)
