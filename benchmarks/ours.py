"""Our side of training: the loop that ``anaphora train`` runs, stopped after so many updates."""

import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import torch

from anaphora.events import Event, Update
from anaphora.experiment.reading import read_experiment
from anaphora.models import registry
from anaphora.protocols import Batches, VocabularyInfo
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import task_of
from anaphora.training.loop import train
from benchmarks.work import Sample, Setting, peak_mib

WARM_UP = 3
"""Updates that are made before the clock is read, on both sides."""


def build(toml: str, symbols: Mapping[str, VocabularyInfo], setting: Setting) -> tuple[torch.nn.Module, ExperimentBase]:
    """A network with the weights that training under ``setting`` starts from, and its experiment."""
    settings = [f"training.seed={setting.seed}", f"training.precision={setting.precision}"]
    experiment = read_experiment(toml, "the benchmark", settings)
    model = registry.build(task_of(experiment).network, experiment, symbols)
    model.initialise(setting.seed)  # type: ignore[operator]  # every network has it
    return model, experiment


def train_for(
    updates: int, toml: str, symbols: Mapping[str, VocabularyInfo], batches: Batches, setting: Setting
) -> Sample:
    """The target tokens of ``updates`` updates, and the time from the end of the last warm-up to the end of the last.

    All that belongs to an update is in it: making its batch, forward, backward, clipping, the optimizer's step and the
    line in the log.
    """
    model, experiment = build(toml, symbols, setting)
    ends: list[float] = []
    tokens: list[int] = []

    def listen(event: Event) -> None:
        if isinstance(event, Update):
            ends.append(time.perf_counter())
            tokens.append(event.tokens)
            if len(ends) == WARM_UP + updates:
                raise _EnoughError

    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", experiment.tables(), {})
        with suppress(_EnoughError):
            train(model, batches, experiment.training, run, lambda model: {}, listen)
    amount = sum(tokens[WARM_UP:])
    size = {"target tokens": amount, "parameters": parameters(model), "vocabulary": symbols[min(symbols)].size}
    return Sample(amount, ends[-1] - ends[WARM_UP - 1], size, peak_mib())


def parameters(model: torch.nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(weight.numel() for weight in model.parameters())


class _EnoughError(Exception):
    """All updates that were asked for are made."""
