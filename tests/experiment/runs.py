"""Whole experiments in tests: changed by settings, trained, resumed and compared."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, get_args

import torch

from anaphora.config import is_table, options_of
from anaphora.events import Event, Note
from anaphora.experiment.overrides import override
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.weights import as_tensors
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse

QUICK = "training.batch_tokens=200"
"""Few updates for language models of the short text."""


def changed(experiment: ExperimentBase, *settings: str, **tables: Any) -> ExperimentBase:
    """Return an experiment with settings such as ``training.epochs=5``, and with other ``tables``."""
    return parse(override(experiment.tables() | tables, settings), "changed.toml")


def tables_in(annotation: Any) -> Iterator[type]:
    """The tables that an option of this type may hold."""
    if is_table(annotation):
        yield annotation
    for argument in get_args(annotation):
        yield from tables_in(argument)


def tables_within(table: type) -> Iterator[type]:
    """A table of options, and all that may be in it."""
    yield table
    for field in options_of(table).values():
        for inner in tables_in(field.annotation):
            yield from tables_within(inner)


def notes(experiment: ExperimentBase, run: Path, **options: Any) -> list[Note]:
    """Train an experiment; returns the notes that are reported."""
    events: list[Event] = []
    train(experiment, run, events.append, **options)
    return [event for event in events if isinstance(event, Note)]


def texts(experiment: ExperimentBase, run: Path, **options: Any) -> list[str]:
    """Train an experiment; returns the texts of the notes that are reported."""
    return [note.text for note in notes(experiment, run, **options)]


def last_weights(run: Path) -> dict[str, torch.Tensor]:
    """Return the weights of the newest checkpoint."""
    return as_tensors(Run.open(run).load("latest").model)


def have_same_weights(one: Path, other: Path) -> bool:
    first, second = last_weights(one), last_weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def assert_resumes(experiment: ExperimentBase, folder: Path, updates: int = 1) -> Path:
    """Demand the same weights of a training that is stopped after some updates, and resumed; returns the whole run."""
    asked = count(1)
    train(experiment, folder / "whole")
    assert train(experiment, folder / "parts", stop=lambda: next(asked) > updates).reason == "stopped"
    assert train(experiment, folder / "parts", resume=True).reason == "epochs"
    assert have_same_weights(folder / "whole", folder / "parts")
    return folder / "whole"
