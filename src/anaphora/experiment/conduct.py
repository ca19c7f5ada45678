"""From an experiment to a trained run folder, begun or continued."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from anaphora.errors import AnaphoraError, ConfigError, RunError
from anaphora.events import LastingReport, Note, Report, silent
from anaphora.experiment.memory import USUAL, check_memory, fitting_tokens, free_bytes, most_tokens
from anaphora.experiment.start.encoder import encoder_start
from anaphora.experiment.start.inheritance import Parent
from anaphora.experiment.start.vectors import word_vectors
from anaphora.kernels.cells import Recorded
from anaphora.kernels.device import device_for
from anaphora.nn.stack import RecurrentConfig
from anaphora.run import Run
from anaphora.run.folder import BOUNDS, set_bounds
from anaphora.run.layout import EXPERIMENT, check_free, discard
from anaphora.run.loading import load_tokenizers
from anaphora.run.replica import RunReplica
from anaphora.run.summary import damaged_logs
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import kind_of
from anaphora.tasks.runs import build, experiment_of, open_run, outline
from anaphora.tasks.work import TRAIN, Begun, UpdatingWork, Work
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Outcome, Stop, never
from anaphora.training.ranks import ALONE, Ranks
from anaphora.training.state import TrainingState
from anaphora.wording import counted

_ROW = 100
"""Tokens of the longest row where nothing bounds it, for an estimate."""


@dataclass(frozen=True)
class _Begun(Begun):
    """With what is done with its data."""

    work: Work
    given: bool = False
    """Whether its first weights are those of other runs or files."""

    def prepare(self, report: Report) -> None:
        """Tell the model what it has to know of the data; save weights that were given."""
        self.work.tell_counts(self, report)
        if self.given:
            # so that going on never needs the other runs and files again, which may change or go
            TrainingState(self.model, self.experiment.training, self.experiment.better).save(self.run, report)


def train(
    experiment: Experiment,
    path: Path,
    report: Report = silent,
    *,
    resume: bool = False,
    stop: Stop = never,
    ranks: Ranks = ALONE,
) -> Outcome:
    """Conduct ``experiment`` in the run folder ``path``, a new one, or with ``resume`` one that was begun before.

    ``stop`` is asked between updates whether training should save itself and end. All that a person may have got
    wrong is found before the folder is made. Of several ``ranks``, the first makes the folder, writes and reports;
    where torchrun starts them again, they continue what it made. Raises ConfigError, DataError, RunError (the folder
    exists; or to resume, is none or was begun with something else, which the message lists), and DivergedError.
    """
    ranks.each(lambda: _check_device(experiment, ranks))  # refused before the data is read
    ranks.check_same({"the folder": str(path), "resume": resume} | dict(_flat(experiment.tables())))
    if experiment.training.threads:
        torch.set_num_threads(experiment.training.threads)
    lasting = LastingReport.of(report if ranks.first else silent)
    with ExitStack() as held:

        def lead() -> _Begun:
            if resume:
                return _resume(experiment, path, lasting, ranks, held)
            if ranks.restarted and (path / EXPERIMENT).exists():
                return _resume(_completed(experiment, ranks)[0], path, lasting, ranks, held)
            return _begin(experiment, path, lasting, ranks, held)

        led = ranks.led(lead)
        begun = ranks.each(lambda: led or _follow(path))
        ranks.check_same({f"the data ({name})": digest for name, digest in begun.work.fingerprints.items()})
        ranks.in_turn(lambda: begun.prepare(lasting))
        return begun.work.learn(begun, lasting, stop, ranks)


def _begin(experiment: Experiment, path: Path, report: LastingReport, ranks: Ranks, held: ExitStack) -> _Begun:
    check_free(path)  # before hours are spent on it
    experiment, parent = _completed(experiment, ranks)
    _check_ranks(experiment, ranks)
    kind, begun = kind_of(experiment), parent.begun if parent else None
    trained = parent if parent and experiment.start.gives_weights else None
    vectors = word_vectors(experiment, trained.begun if trained else None)
    givers = [
        giver for giver in (trained, vectors, encoder_start(experiment), *kind.givers(experiment, begun)) if giver
    ]
    work = work_of(experiment, report)
    experiment = work.completed(experiment, report)
    tokenizers = parent.tokenizers(lambda: work.learn_vocabulary(report)) if parent else work.learn_vocabulary(report)
    if parent:
        parent.say_what_it_lacks(experiment, work.splits.train, report)
    if isinstance(work, UpdatingWork):
        shape = outline(experiment, tokenizers, "The experiment")
        sizes = {tokenizer.symbols.size for tokenizer in tokenizers.values()}
        check_memory(shape, experiment, sizes, work.longest or _ROW, most_tokens(work.splits.train.paths))
    model = _model(experiment, tokenizers, "The experiment")
    for giver in givers:
        giver.give(model, tokenizers, report)
    experiment = _sized(experiment, model, tokenizers, work, report)
    say_what_autograd_does(model, report)
    say_what_is_frozen(model, report)
    was_there = path.exists()
    Run.create(path, experiment.tables(), tokenizers, work.fingerprints)
    run = open_run(path, experiment, work.fingerprints)
    report.on_failure(run.metrics.note)
    run.write_card({}, report)
    held.enter_context(run.lock())
    held.enter_context(_discarded_where_nothing_came_of_it(run, resumable=not givers, folder_too=not was_there))
    return _Begun(run, experiment, model, tokenizers, work, given=bool(givers))


@contextmanager
def _discarded_where_nothing_came_of_it(run: Run, *, resumable: bool, folder_too: bool) -> Iterator[None]:
    """Remove a new run that fails before there is anything in it to go on from."""
    try:
        yield
    except BaseException as error:
        # an interruption keeps the encoded corpus for --resume; a fault in the data leaves nothing half-written
        kept = resumable and (run.path / TRAIN).exists() and not isinstance(error, AnaphoraError)
        if not (run.checkpoints() or run.metrics.lines() or kept):
            discard(run.path, folder_too=folder_too)
        raise


def _resume(experiment: Experiment, path: Path, report: LastingReport, ranks: Ranks, held: ExitStack) -> _Begun:
    begun = experiment_of(path)
    _check_ranks(begun, ranks)
    if experiment.task == begun.task:
        experiment = experiment.resumed(begun)
    work = work_of(experiment, report)
    run = open_run(path, begun, work.fingerprints)
    report.on_failure(run.metrics.note)
    held.enter_context(run.lock())
    _go_on_as(run, begun, experiment, report)
    tokenizers = load_tokenizers(run)
    model = _model(begun, tokenizers, str(path / EXPERIMENT))
    say_what_autograd_does(model, report)
    say_what_is_frozen(model, report)
    return _Begun(run, experiment, model, tokenizers, work)


def _follow(path: Path) -> _Begun:
    """What another rank began or resumed."""
    if not (path / EXPERIMENT).exists():
        raise RunError(
            f"{path} is not there on {platform.node()}, but rank 0 has it: put the run folder on a disk that all "
            f"machines see under one path."
        )
    experiment = experiment_of(path)
    work = work_of(experiment, silent)
    run = RunReplica.open(path, work.fingerprints)
    tokenizers = load_tokenizers(run)
    model = _model(experiment, tokenizers, str(path / EXPERIMENT))
    return _Begun(run, experiment, model, tokenizers, work)


def _completed(experiment: Experiment, ranks: Ranks) -> tuple[Experiment, Parent | None]:
    """The experiment with what other runs and the number of ranks decide of it, and the run that it starts from."""
    if ranks.size > 1 and not experiment.training.micro_batches:
        experiment = experiment.with_options({"training.micro_batches": ranks.size})
    parent = None if experiment.start.run == "none" else Parent(experiment)
    if parent:
        experiment = parent.adopted(experiment)
    return kind_of(experiment).complete(experiment, parent.begun if parent else None), parent


def _check_device(experiment: Experiment, ranks: Ranks) -> None:
    device = device_for(experiment.training.device, "training.device")
    if device.type == "cuda" and ranks.local >= torch.cuda.device_count():
        raise ConfigError(
            f"Each rank needs a GPU of its own, but this machine has {torch.cuda.device_count()}: start as many "
            f"processes (--nproc-per-node)."
        )


def _check_ranks(experiment: Experiment, ranks: Ranks) -> None:
    count = experiment.training.batches_an_update
    if count % ranks.size:
        raise ConfigError(
            f"An update has {counted(count, 'micro-batch')} (training.micro_batches), which {ranks.size} ranks cannot "
            f"share evenly: start a number of processes that divides it, or begin a run with another number."
        )


def _sized(
    experiment: Experiment, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], work: Work, report: Report
) -> Experiment:
    """The experiment with a batch that fits into memory, where it leaves that open."""
    if experiment.training.batch_tokens or not isinstance(work, UpdatingWork):
        return experiment
    if not work.longest:
        raise ConfigError("training.batch_tokens = 0 needs a bound on the longest row: set data.max_length.")
    free = free_bytes(experiment.training.device)
    tokens = fitting_tokens(model, {tokenizer.symbols.size for tokenizer in tokenizers.values()}, work.longest, free)
    why = "the usual number" if tokens == USUAL else "what is estimated to fit"
    report(Note(f"A batch takes {tokens:,} tokens: {why}; {free / 2**30:.1f} GiB of memory are free."))
    return experiment.with_options({"training.batch_tokens": tokens})


def work_of(experiment: Experiment, report: Report) -> Work:
    """The data of an experiment, found and checked, and what its task does with it."""
    return kind_of(experiment).work(experiment, report)


def _model(experiment: Experiment, tokenizers: Mapping[str, Tokenizer], where: str) -> torch.nn.Module:
    """A new network with the weights that training starts from."""
    model = build(experiment, tokenizers, where)
    cast(Any, model).initialise(experiment.training.seed)
    return model


def say_what_autograd_does(model: torch.nn.Module, report: Report) -> None:
    """Report the units of ``model`` that train slowly, since nobody has derived their gradient."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    cells = [config.cell for config in configs if isinstance(config, RecurrentConfig)]
    for kind in sorted({cell.kind for cell in cells if isinstance(cell, Recorded)}):
        report(Note(f"Unit '{kind}' has no derived gradient, so autograd records each of its steps: it trains slowly."))


def say_what_is_frozen(model: torch.nn.Module, report: Report) -> None:
    """Report what of ``model`` is trained, where that is not all."""
    named = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    trained = [name for name, weight in named.items() if weight.requires_grad]
    if len(trained) < len(named):
        count = sum(named[name].numel() for name in trained)
        whole = sum(weight.numel() for weight in named.values())
        report(Note(f"Only {', '.join(trained)} are trained ({count:,} of {whole:,} parameters); the rest is frozen."))


def _go_on_as(run: Run, begun: Experiment, now: Experiment, report: Report) -> None:
    """Let a run continue new bounds; refuse another experiment, vocabulary or data than it was begun with."""
    before, after = dict(_flat(begun.tables())), dict(_flat(now.tables()))
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    differences = [
        f"{key} was {before.get(key, 'absent')} and is {after.get(key, 'absent')}"
        for key in sorted(changed)
        if key not in (*BOUNDS, *now.places)
    ]
    latest = run.load("latest", report) if run.checkpoints() else None
    if latest:
        differences += [f"{name} has changed" for name in run.changed(latest)]
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
    """Every value of nested tables with its dotted key."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
