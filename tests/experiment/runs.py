"""Whole experiments in tests: changed by settings, trained, resumed and compared."""

from itertools import count
from pathlib import Path
from typing import Any

import torch

import anaphora
from anaphora.events import Event, Note
from anaphora.experiment.overrides import override
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.weights import as_tensors
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import parse

QUICK = "training.batch_tokens=200"
"""Few updates for language models of the short text."""


def changed(experiment: Experiment, *settings: str, **tables: Any) -> Experiment:
    """Return an experiment with settings such as ``training.epochs=5``, and with other ``tables``."""
    return parse(override(experiment.tables() | tables, settings), "changed.toml")


def notes(experiment: Experiment, run: Path, **options: Any) -> list[Note]:
    """Train an experiment; returns the notes that are reported."""
    events: list[Event] = []
    train(experiment, run, events.append, **options)
    return [event for event in events if isinstance(event, Note)]


def texts(experiment: Experiment, run: Path, **options: Any) -> list[str]:
    """Train an experiment; returns the texts of the notes that are reported."""
    return [note.text for note in notes(experiment, run, **options)]


def assert_used(run: Path) -> None:
    """Demand that a run of the toy corpus or of the short text answers to raw text."""
    model = anaphora.load(run)
    if isinstance(model, anaphora.TranslationPredictor):
        assert len(model.translate(["adf", ""], beam=2)) == 2
    else:
        assert model.generate("line", length=5).text.startswith("line")


def last_weights(run: Path) -> dict[str, torch.Tensor]:
    """Return the weights of the newest checkpoint."""
    return as_tensors(Run.open(run).load("latest").model)


def have_same_weights(one: Path, other: Path) -> bool:
    first, second = last_weights(one), last_weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def assert_resumes(experiment: Experiment, folder: Path, updates: int = 1) -> Path:
    """Demand the same weights of a training that is stopped after some updates, and resumed; returns the whole run."""
    asked = count(1)
    train(experiment, folder / "whole")
    assert train(experiment, folder / "parts", stop=lambda: next(asked) > updates).reason == "stopped"
    assert train(experiment, folder / "parts", resume=True).reason == "epochs"
    assert have_same_weights(folder / "whole", folder / "parts")
    return folder / "whole"
