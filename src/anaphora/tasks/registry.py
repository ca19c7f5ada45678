"""The tasks by name: each an import path, looked up when it is first needed.

Only what stands here is ever imported, whatever a run folder says; ``anaphora --help`` imports none of it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from anaphora.errors import ConfigError
from anaphora.wording import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anaphora.tasks.base import ExperimentBase
    from anaphora.tasks.task import Task

TASKS = {
    "translate": "anaphora.tasks.translation.task",
    "language-model": "anaphora.tasks.language_model.task",
    "align": "anaphora.tasks.alignment.task",
    "classify": "anaphora.tasks.classify.task",
    "tag": "anaphora.tasks.tag.task",
    "describe": "anaphora.tasks.describe.task",
    "trace": "anaphora.tasks.trace.task",
    "transduce": "anaphora.tasks.transduce.task",
}
"""A new task is one line here: the module whose ``TASKS`` are its classes by kind of model, the usual one first."""

FILES = dict.fromkeys((".arpa", ".arpa.gz", ".lm", ".lm.gz"), "language-model")
"""Files of other programs that stand for a run, by their ending, and the task that opens them."""


@cache
def find_tasks(name: str) -> tuple[Task, ...]:
    """Return the kinds of models of the task of that name, the usual one first; KeyError for none."""
    return tuple(task() for task in cast("tuple[type[Task], ...]", import_module(TASKS[name]).TASKS))


def predictor_module(task: str) -> Any:
    """Return the module that makes the predictors of a task, and opens the files of other programs for it."""
    package, _, _ = TASKS[task].rpartition(".")
    return import_module(f"{package}.predictor")


def every_task() -> Iterator[Task]:
    """Return all kinds of models of all tasks, in their order."""
    return (task for name in TASKS for task in find_tasks(name))


def task_of(experiment: ExperimentBase) -> Task:
    return next(task for task in find_tasks(experiment.task) if task.model == experiment.kind)


def named_in(table: Mapping[str, Any], where: str) -> Task:
    """Return the task that a table from ``where`` names; ConfigError for none that is known."""
    name = table.get("task")
    if not isinstance(name, str):
        raise ConfigError(f"{where}: task is missing. Known: {', '.join(sorted(TASKS))}.")
    if name not in TASKS:
        raise ConfigError(f"{where}: {unknown('task', name, TASKS)}")
    kinds = {task.model: task for task in find_tasks(name)}
    usual = next(iter(kinds))
    kind = table.get("model", usual) if usual else usual
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{where}: {unknown('model', str(kind), kinds)}")
    return kinds[kind]


def parse(table: Mapping[str, Any], where: str) -> ExperimentBase:
    """Return the experiment in a table that came from ``where``; ConfigError with one sentence."""
    return named_in(table, where).experiment.parse(table, where, (other.experiment for other in every_task()))
