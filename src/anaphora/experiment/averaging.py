"""The mean of the weights of several checkpoints, validated like any other, and the best of the run if it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

from anaphora.errors import ConfigError, RunError
from anaphora.events import Note, Report, silent
from anaphora.files import DamagedError
from anaphora.run import Checkpoint, Run
from anaphora.run.checkpoint import AVERAGE
from anaphora.run.weights import as_tensors, fill
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import experiment_of, open_run
from anaphora.tasks.training_job import FittingJob, TrainingContext, UpdatingJob
from anaphora.training.best_checkpoint import BestCheckpoint
from anaphora.wording import inflect


@dataclass(frozen=True)
class AveragingResult:
    updates: tuple[int, ...]
    """The checkpoints in it, by update."""
    metrics: Mapping[str, float]
    """Validation metrics of the average."""
    best_metrics: Mapping[str, float]
    """Metrics of the checkpoint that was the best before, measured in the same way."""
    better: bool
    """True if it is now the best of the run."""
    path: Path | None
    """Folder of the average; None where it was not kept, since the run's best average stays in its place."""


def average_run(path: Path, last: int = 5, report: Report = silent) -> AveragingResult:
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
    task = task_of(experiment)
    job = task.job(experiment, report)
    if isinstance(job, FittingJob):
        raise ConfigError(f"{path} was fitted in one go, and so has one checkpoint: there is nothing to average.")
    with run.lock():
        tensors, updates = average(run, last, report)
        before = run.load("best", report)
        # an average was trained with what its checkpoints were trained with
        run.fingerprints |= {name: found for name, found in before.fingerprints.items() if name.startswith("data/")}
        tokenizers = run.tokenizers()
        model = task.build(experiment, tokenizers, str(path / "experiment.toml")).eval()
        validate = cast(UpdatingJob, job).validation(TrainingContext(run, experiment, model, tokenizers), report)
        figures = []
        with torch.no_grad():
            for weights, where in ((before.model, before.path), (tensors, path / "checkpoints" / AVERAGE)):
                fill(model, weights, where / "model.safetensors")
                figures.append(validate(model))
        best = BestCheckpoint(experiment.training.metric, experiment.better)
        best.observe(figures[0], 0)
        better = best.observe(figures[1], updates[-1])
        saved = None
        if better or run.best() != AVERAGE:
            state = {"averaged": updates, "validation": dict(figures[1])}
            saved = run.save(updates[-1], tensors, {}, state, average=True, report=report)
        if better:
            run.mark_best(AVERAGE)
            run.write_card(figures[1], report)
    return AveragingResult(tuple(updates), figures[1], figures[0], better, saved)


def average(run: Run, last: int, report: Report = silent) -> tuple[dict[str, Tensor], list[int]]:
    """The mean of the newest ``last`` checkpoints that are whole, tensor by tensor, and their updates, ascending.

    One checkpoint is held at a time, beside sums in double precision that are added up from the oldest to the newest;
    each mean is rounded once. Tensors that are no floating-point numbers are those of the newest. Raises RunError
    when there are fewer than two, or their tensors are not of the same names and shapes.
    """
    sums: dict[str, Tensor] = {}
    newest: dict[str, Tensor] = {}
    updates: list[int] = []
    for checkpoint in _whole(run, last, report):
        tensors = as_tensors(checkpoint.model)
        if updates and {name: t.shape for name, t in tensors.items()} != {n: t.shape for n, t in sums.items()}:
            raise RunError(f"{checkpoint.path} has other tensors than step-{updates[-1]}: they cannot be averaged.")
        for name, tensor in tensors.items():
            sums[name] = sums[name] + tensor.double() if updates else tensor.double()
        newest = tensors
        updates.append(checkpoint.update)
    if len(updates) < 2:
        raise RunError(f"{run.path} needs 2 whole checkpoints, but has {len(updates)}: resume, or raise training.keep.")
    return {
        name: (sums[name] / len(updates)).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in newest.items()
    }, updates


def _whole(run: Run, last: int, report: Report) -> Iterator[Checkpoint]:
    there = run.checkpoints()
    if len(there) < last:
        found = f"{run.path} has {inflect(len(there), 'checkpoint')}, and not {last}"
        report(Note(f"{found}: training.keep says how many stay."))
    for update in there[-last:]:
        try:
            yield run.load(update)
        except DamagedError as error:
            report(Note(f"{error} It is left out of the average.", warning=True))
