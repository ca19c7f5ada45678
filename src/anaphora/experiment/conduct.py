"""From an experiment to a trained run folder, begun or gone on with."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import torch

from anaphora.errors import RunError
from anaphora.events import Note, Report, silent
from anaphora.experiment.language_model import LanguageModelWork
from anaphora.experiment.schema import Experiment, TranslationExperiment, parse
from anaphora.experiment.translation import TranslationWork
from anaphora.experiment.work import Work
from anaphora.kernels.cells import Recorded
from anaphora.nn.stack import RecurrentConfig
from anaphora.run import Run
from anaphora.run.loading import build_model, load_coders
from anaphora.text.coder import TextCoder
from anaphora.training import loop
from anaphora.training.loop import Outcome

_BOUNDS = ("training.epochs", "training.minutes", "training.patience", "training.threads", "training.keep")
"""What may change when a run goes on: where it stops, and how many threads carry it there."""


def train(experiment: Experiment, path: Path, report: Report = silent, *, resume: bool = False) -> Outcome:
    """Conduct ``experiment`` in the run folder ``path``, a new one, or with ``resume`` one that was begun before.

    All that a person may have got wrong is found before the folder is made. Raises ConfigError, DataError, RunError
    (the folder exists; or to resume, is none or was begun with something else, which the message lists), and
    DivergedError.
    """
    if experiment.training.threads:
        torch.set_num_threads(experiment.training.threads)
    return _resume(experiment, path, report) if resume else _begin(experiment, path, report)


def experiment_of(path: Path) -> Experiment:
    """The experiment that a run folder was begun with."""
    return parse(Run.open(path).experiment, str(path / "experiment.toml"))


def _begin(experiment: Experiment, path: Path, report: Report) -> Outcome:
    _check_free(path)
    work = work_of(experiment, report)
    coders = work.learn_vocabulary(report)
    model = _model(experiment, coders, "The experiment")
    say_what_autograd_does(model, report)
    run = Run.create(path, experiment.tables(), coders, work.fingerprints)
    try:
        batches, validate = work.prepare(coders, path / "encoded", report)
    except BaseException:
        # nothing half-written stays behind a fault in the data
        shutil.rmtree(path, ignore_errors=True)
        raise
    return loop.train(model, batches, experiment.training, run, validate, report)


def _resume(experiment: Experiment, path: Path, report: Report) -> Outcome:
    begun = experiment_of(path)
    work = work_of(experiment, report)
    run = Run.open(path, work.fingerprints)
    _check_same(run, begun, experiment, report)
    coders = load_coders(run)
    model = _model(begun, coders, str(path / "experiment.toml"))
    say_what_autograd_does(model, report)
    with run.lock():
        batches, validate = work.prepare(coders, path / "encoded", report)
        return loop.train(model, batches, experiment.training, run, validate, report)


def work_of(experiment: Experiment, report: Report) -> Work:
    """The data of an experiment, found and checked, and what its task does with it."""
    if isinstance(experiment, TranslationExperiment):
        return TranslationWork(experiment, report)
    return LanguageModelWork(experiment, report)


def _model(experiment: Experiment, coders: Mapping[str, TextCoder], where: str) -> torch.nn.Module:
    """A new network with the weights that training starts from."""
    model = build_model(experiment.tables(), coders, where)
    cast(Any, model).initialise(experiment.training.seed)
    return model


def say_what_autograd_does(model: torch.nn.Module, report: Report) -> None:
    """Report the units of ``model`` that train slowly, since nobody has derived their gradient."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    cells = [config.cell for config in configs if isinstance(config, RecurrentConfig)]
    for kind in sorted({cell.kind for cell in cells if isinstance(cell, Recorded)}):
        report(Note(f"Unit '{kind}' has no derived gradient, so autograd records each of its steps: it trains slowly."))


def _check_free(path: Path) -> None:
    """Refuse a folder that exists before hours are spent on it; ``Run.create`` refuses it again."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise RunError(
            f"A new run needs a folder of its own, but {path} exists and is not empty; "
            f"choose another with --run, remove it, or go on with it by --resume."
        )


def _check_same(run: Run, begun: Experiment, now: Experiment, report: Report) -> None:
    """Refuse to go on with another experiment, vocabulary or data than the run was begun with."""
    before, after = dict(_flat(begun.tables())), dict(_flat(now.tables()))
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    differences = [
        f"{key} was {before.get(key, 'absent')} and is {after.get(key, 'absent')}"
        for key in sorted(changed)
        if key not in _BOUNDS
    ]
    if run.checkpoints():
        files = run.changed(run.load("latest", report))
        differences += [f"{name} has changed" for name in files]
    if differences:
        raise RunError(
            f"{run.path} cannot go on, since it was begun otherwise: {'; '.join(differences)}. "
            f"Resume it as it was, or train into a folder of its own."
        )
    for key in sorted(changed):
        report(Note(f"{key} is {after[key]} from here on; the run was begun with {before[key]}."))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested tables with its dotted key."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
