"""Checkpoints averaged, validated like any other, and marked the best of the run if they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch

from anaphora.errors import ConfigError
from anaphora.events import Report, silent
from anaphora.run.averaging import average
from anaphora.run.checkpoint import AVERAGE
from anaphora.run.loading import load_tokenizers
from anaphora.run.weights import fill
from anaphora.tasks.fitting import FittingJob
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import build, experiment_of, open_run
from anaphora.tasks.training_job import TrainingContext, UpdatingJob
from anaphora.training.best_checkpoint import BestCheckpoint


@dataclass(frozen=True)
class Averaged:
    updates: tuple[int, ...]
    """The checkpoints in it, by update."""
    metrics: Mapping[str, float]
    """Its validation metrics."""
    best_metrics: Mapping[str, float]
    """Those of the checkpoint that was the best before, measured in the same way."""
    better: bool
    """True if it is now the best of the run."""
    path: Path | None
    """Its folder; None where it was not kept, since the average that is the best of the run stays in its place."""


def average_run(path: Path, last: int = 5, report: Report = silent) -> Averaged:
    """Average the newest ``last`` checkpoints of a run, and let ``best`` name the average if it validates better.

    It is saved as ``checkpoints/average``, unless a better average lies there that is the best of the run. The
    checkpoints themselves stay as they are, and training can go on from the newest. Raises ConfigError for fewer than
    2 and for a model that makes no updates, RunError when there are no two that are whole or the run is being trained,
    DataError when its data is not there.
    """
    if last < 2:
        raise ConfigError(f"An average is of at least 2 checkpoints, but --last is {last}.")
    experiment = experiment_of(path)
    run = open_run(path, experiment)
    job = task_of(experiment).job(experiment, report)
    if isinstance(job, FittingJob):
        raise ConfigError(f"{path} was fitted in one go, and so has one checkpoint: there is nothing to average.")
    with run.lock():
        tensors, updates = average(run, last, report)
        before = run.load("best", report)
        # an average was trained with what its checkpoints were trained with
        run.fingerprints |= {name: found for name, found in before.fingerprints.items() if name.startswith("data/")}
        tokenizers = load_tokenizers(run)
        model = build(experiment, tokenizers, str(path / "experiment.toml")).eval()
        validate = cast(UpdatingJob, job).validation(TrainingContext(run, experiment, model, tokenizers), report)
        figures = []
        with torch.no_grad():
            for weights, where in ((before.model, before.path), (tensors, path / "checkpoints" / AVERAGE)):
                fill(model, weights, where / "model.safetensors")
                figures.append(validate(model))
        best = BestCheckpoint(experiment.training.metric, experiment.better)
        best.observe(figures[0], 0)
        better = best.observe(figures[1], updates[-1])
        if not better and run.best() == AVERAGE:
            return Averaged(tuple(updates), figures[1], figures[0], better, None)
        state = {"averaged": updates, "validation": dict(figures[1])}
        saved = run.save(updates[-1], tensors, {}, state, average=True, report=report)
        if better:
            run.mark_best(AVERAGE)
            run.write_card(figures[1], report)
    return Averaged(tuple(updates), figures[1], figures[0], better, saved)
