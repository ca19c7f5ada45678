"""Training of an experiment in a run folder, begun or continued."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from anaphora.errors import AnaphoraError, ConfigError, RunError
from anaphora.events import LastingReport, Note, Report, silent
from anaphora.experiment.plan import Plan, check_ranks, plan_new, plan_of, resolve_runs
from anaphora.kernels.device import device_for
from anaphora.run import Run
from anaphora.run.folder import BOUNDS, RunReplica, set_bounds
from anaphora.run.layout import EXPERIMENT, check_free, discard
from anaphora.run.summary import damaged_logs
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import experiment_of, open_run, store_inference
from anaphora.tasks.training_job import TRAIN, Loop, TrainingContext
from anaphora.training.loop import Outcome, Stop, never
from anaphora.training.ranks import ALONE, Ranks


def train(
    experiment: Experiment,
    path: Path,
    report: Report = silent,
    *,
    resume: bool = False,
    stop: Stop = never,
    ranks: Ranks = ALONE,
    loop: Loop | None = None,
) -> Outcome:
    """Train ``experiment`` in the run folder ``path``, a new one, or with ``resume`` one that was begun before.

    ``stop`` is asked between updates whether training should save itself and end. All that a person may have got
    wrong is found before the folder is made. Of several ``ranks``, the first makes the folder, writes and reports;
    where torchrun starts them again, they continue what it made. A ``loop`` of yours takes the place of the updates: it
    is called with the network, its batches and a function that returns validation metrics, and its last weights are
    saved. Raises ConfigError, DataError, RunError (the folder exists; or to resume, is none or was begun with something
    else, which the message lists), and DivergedError.

    >>> text, settings = 'task = "language-model"', ["model=ngram", "ngram.order=2", "text.tokenizer=word"]
    >>> experiment = anaphora.read_experiment(text, "mine.toml", settings, data=[Path("book.txt")])
    >>> anaphora.train(experiment, Path("runs/counts")).reason
    'fitted'
    """
    ranks.run_on_each(lambda: _check_device(experiment, ranks))  # refused before the data is read
    ranks.check_same({"the folder": str(path), "resume": resume} | dict(_flat(experiment.tables())))
    if experiment.training.threads:
        torch.set_num_threads(experiment.training.threads)
    lasting = LastingReport.of(report if ranks.first else silent)
    with ExitStack() as held:

        def lead() -> tuple[Plan, Run]:
            if resume:
                return _resume(experiment, path, lasting, ranks, held)
            if ranks.restarted and (path / EXPERIMENT).exists():
                return _resume(resolve_runs(experiment, ranks)[0], path, lasting, ranks, held)
            return _begin(experiment, path, lasting, ranks, held)

        led = ranks.run_on_first(lead)
        plan, run = ranks.run_on_each(lambda: led or _follow(path))
        ranks.check_same({f"the data ({name})": digest for name, digest in plan.job.fingerprints.items()})
        context = TrainingContext(run, plan.experiment, plan.model, plan.tokenizers, plan.has_given_weights, loop)
        ranks.in_turn(partial(plan.job.prepare, context, lasting))
        try:
            return plan.job.learn(context, lasting, stop, ranks)
        finally:  # an interrupted run predicts, too; one that was killed is described when it is first used
            if ranks.first:
                store_inference(run, plan.experiment, plan.model, lasting)


def _begin(
    experiment: Experiment, path: Path, report: LastingReport, ranks: Ranks, held: ExitStack
) -> tuple[Plan, Run]:
    """Make a run folder of a new plan, and hold its lock."""
    check_free(path)  # before hours are spent on it
    plan = plan_new(experiment, report, ranks)
    was_there = path.exists()
    run = Run.create(path, plan.experiment.tables(), plan.tokenizers, plan.job.fingerprints, plan.task.example)
    report.on_failure(run.metrics.note)
    held.enter_context(run.lock())
    resumable = not plan.has_given_weights
    held.enter_context(_remove_if_empty(run, resumable=resumable, folder_too=not was_there))
    return plan, run


def _resume(
    experiment: Experiment, path: Path, report: LastingReport, ranks: Ranks, held: ExitStack
) -> tuple[Plan, Run]:
    """Open a run folder that was begun before with the plan that goes on, and hold its lock."""
    begun = experiment_of(path)
    check_ranks(begun, ranks)
    if experiment.task == begun.task:
        experiment = experiment.resume(begun)
    job = task_of(experiment).job(experiment, report)
    run = open_run(path, experiment, job.fingerprints)
    report.on_failure(run.metrics.note)
    held.enter_context(run.lock())
    _continue_as(run, begun, experiment, report)
    _check_begun(run, begun)
    return plan_of(run, begun, experiment, job), run


def _check_begun(run: Run, begun: Experiment) -> None:
    """Raise RunError for a run that starts from weights of other runs or files and was stopped before it saved them."""
    if run.checkpoints():
        return
    start, (_, of_task) = begun.start, task_of(begun).with_runs(begun, None)
    if start.gives_weights or start.encoder != "none" or begun.vector_files or of_task:
        raise RunError(
            f"{run.path} was stopped before its first checkpoint, and the weights that it starts from are nowhere in "
            f"it: remove the folder, and begin again."
        )


def _follow(path: Path) -> tuple[Plan, Run]:
    """Open what another rank began or resumed."""
    if not (path / EXPERIMENT).exists():
        raise RunError(
            f"{path} is not there on {platform.node()}, but rank 0 has it: put the run folder on a disk that all "
            f"machines see under one path."
        )
    begun = experiment_of(path)
    job = task_of(begun).job(begun, silent)
    run = RunReplica.open(path, job.fingerprints)
    return plan_of(run, begun, begun, job), run


@contextmanager
def _remove_if_empty(run: Run, *, resumable: bool, folder_too: bool) -> Iterator[None]:
    """Remove a new run that fails before there is anything in it to go on from."""
    try:
        yield
    except BaseException as error:
        # an interruption keeps the encoded corpus for --resume; a fault in the data leaves nothing half-written
        kept = resumable and (run.path / TRAIN).exists() and not isinstance(error, AnaphoraError)
        if not (run.checkpoints() or run.metrics.lines() or kept):
            discard(run.path, folder_too=folder_too)
        raise


def _check_device(experiment: Experiment, ranks: Ranks) -> None:
    device = device_for(experiment.training.device, "training.device")
    if device == "cuda" and ranks.local >= torch.cuda.device_count():
        raise ConfigError(
            f"Each rank needs a GPU of its own, but this machine has {torch.cuda.device_count()}: start as many "
            f"processes (--nproc-per-node)."
        )


def _continue_as(run: Run, begun: Experiment, now: Experiment, report: Report) -> None:
    """Let a run continue with new bounds; refuse another experiment, vocabulary or data than it was begun with."""
    before, after = dict(_flat(begun.tables())), dict(_flat(now.tables()))
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    free = {*now.places, *(f"training.{name}" for name in BOUNDS)}
    differences = [
        f"{key} was {before.get(key, 'absent')} and is {after.get(key, 'absent')}"
        for key in sorted(changed)
        if key not in free
    ]
    latest = run.load("latest", report) if run.checkpoints() else None
    if latest:
        differences += [f"{name} has changed" for name in run.changed_fingerprints(latest)]
    if differences:
        of_data = any(difference.startswith(("data/train", "data/valid")) for difference in differences)
        kept = " Older versions kept headings, empty columns and special tokens in it." if of_data else ""
        raise RunError(
            f"{run.path} cannot go on, since it was begun otherwise: {'; '.join(differences)}.{kept} "
            f"Resume it as it was, or train into a folder of its own."
        )
    for key in sorted(changed.intersection(now.places)):
        places = [after[key]] if isinstance(after[key], str) else after[key]
        report(Note(f"{key} is the same, and is read from {', '.join(places)} this time."))
    for key in sorted(changed.difference(now.places)):
        report(Note(f"{key} is {after[key]} from here on; it was {before[key]} before."))
    for fault in damaged_logs(run):
        report(Note(fault, warning=True))
    if changed:
        set_bounds(run, now.tables(), latest)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of nested tables with its dotted key."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
