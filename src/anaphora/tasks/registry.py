"""The tasks by name: each an import path, looked up when it is first needed.

Only what stands here is ever imported, whatever a run folder says; ``anaphora --help`` imports none of it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from anaphora.config import unknown
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anaphora.tasks.base import ExperimentBase
    from anaphora.tasks.task import Kind, Task

TASKS = {
    "translate": "anaphora.tasks.translation",
    "language-model": "anaphora.tasks.language_model",
    "align": "anaphora.tasks.alignment",
    "classify": "anaphora.tasks.classify",
    "tag": "anaphora.tasks.tag",
    "describe": "anaphora.tasks.describe",
    "trace": "anaphora.tasks.trace",
    "transduce": "anaphora.tasks.transduce",
}
"""A new task is one line here: the package whose ``TASK`` it is."""

FILES = dict.fromkeys((".arpa", ".arpa.gz", ".lm", ".lm.gz"), "language-model")
"""Files of other programs that stand for a run, by their ending, and the task that opens them."""


@cache
def _imported(home: str) -> Task:
    return cast("Task", import_module(home).TASK)


def task_named(name: str) -> Task:
    """The task of that name; KeyError for none."""
    return _imported(TASKS[name])


def every_task() -> Iterator[Task]:
    """All of them, in their order."""
    return map(task_named, TASKS)


def every_kind() -> Iterator[tuple[Task, Kind]]:
    return ((task, kind) for task in every_task() for kind in task.kinds.values())


def task_of(experiment: ExperimentBase) -> Task:
    return task_named(experiment.task)


def kind_of(experiment: ExperimentBase) -> Kind:
    return task_of(experiment).kind_of(experiment)


def named_in(table: Mapping[str, Any], where: str) -> tuple[Task, Kind]:
    """The task and kind that a table from ``where`` names; ConfigError for none that is known."""
    name = table.get("task")
    if not isinstance(name, str):
        raise ConfigError(f"{where}: task is missing. Known: {', '.join(sorted(TASKS))}.")
    if name not in TASKS:
        raise ConfigError(f"{where}: {unknown('task', name, TASKS)}")
    task = task_named(name)
    usual = next(iter(task.kinds))
    kind = table.get("model", usual) if usual else usual
    if not isinstance(kind, str) or kind not in task.kinds:
        raise ConfigError(f"{where}: {unknown('model', str(kind), task.kinds)}")
    return task, task.kinds[kind]


def parse(table: Mapping[str, Any], where: str) -> ExperimentBase:
    """The experiment in a table that came from ``where``; ConfigError with one sentence."""
    _, kind = named_in(table, where)
    return kind.experiment.parse(table, where, (other.experiment for _, other in every_kind()))
