"""The plan of a training: all that it needs of data, other runs and options, resolved before anything is written."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.experiment.memory import USUAL, check_memory, fitting_tokens, free_bytes, most_tokens
from anaphora.experiment.parent_run import Parent
from anaphora.experiment.weight_sources import encoder_start, word_vectors
from anaphora.kernels.cells import Recorded
from anaphora.nn.stack import RecurrentConfig
from anaphora.run import Run
from anaphora.run.layout import EXPERIMENT
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import build, outline
from anaphora.tasks.task import Task, WeightSource
from anaphora.tasks.training_job import TrainingJob, UpdatingJob
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.ranks import Ranks
from anaphora.wording import counted

_ROW = 100
"""Tokens of the longest row where nothing bounds it, for an estimate."""


@dataclass(frozen=True)
class Plan:
    """Everything that a training needs."""

    experiment: Experiment
    """With nothing left open."""
    task: Task
    job: TrainingJob
    """Its data, found and checked."""
    tokenizers: Mapping[str, Tokenizer]
    """By side."""
    model: torch.nn.Module
    """A new network; its weights are those that training starts from."""
    has_given_weights: bool = False
    """True if some of these are those of other runs or files."""


def plan_new(experiment: Experiment, report: Report, ranks: Ranks) -> Plan:
    """Return the plan of a new run; errors as for ``run_training.train``."""
    task = task_of(experiment)
    experiment, parent = with_parent(experiment, ranks)
    trained = parent if parent and experiment.start.gives_weights else None
    experiment, of_task = task.with_runs(experiment, parent.begun if parent else None)
    check_ranks(experiment, ranks)
    named = trained, word_vectors(experiment, trained.begun if trained else None), encoder_start(experiment), *of_task
    sources: Sequence[WeightSource] = [source for source in named if source]
    job = task.job(experiment, report)
    experiment = job.with_data_statistics(experiment, report)
    tokenizers = parent.tokenizers(lambda: job.learn_vocabulary(report)) if parent else job.learn_vocabulary(report)
    if parent:
        parent.report_new_tokens(experiment, job.splits.train, report)
    sizes = {tokenizer.symbols.size for tokenizer in tokenizers.values()}
    if isinstance(job, UpdatingJob):
        shape = outline(experiment, tokenizers, "The experiment", task)
        check_memory(shape, experiment, sizes, job.longest or _ROW, most_tokens(job.splits.train.paths))
    model = build(experiment, tokenizers, "The experiment", task)
    cast(Any, model).initialise(experiment.training.seed)
    for source in sources:
        source.load_into(model, tokenizers, report)
    if isinstance(job, UpdatingJob) and not experiment.training.batch_tokens:
        experiment = _with_batch_size(experiment, model, sizes, job.longest, report)
    report_autograd_cells(model, report)
    report_frozen_weights(model, report)
    return Plan(experiment, task, job, tokenizers, model, has_given_weights=bool(sources))


def plan_of(run: Run, begun: Experiment, experiment: Experiment, task: Task, job: TrainingJob) -> Plan:
    """Return the plan of a ``run``, ``begun`` with an experiment that may have other bounds or places now."""
    tokenizers = run.tokenizers()
    model = build(begun, tokenizers, str(run.path / EXPERIMENT), task)
    cast(Any, model).initialise(begun.training.seed)
    return Plan(experiment, task, job, tokenizers, model)


def with_parent(experiment: Experiment, ranks: Ranks) -> tuple[Experiment, Parent | None]:
    """Return the experiment with what its parent and the number of ranks decide, and the run that it starts from."""
    if ranks.size > 1 and not experiment.training.micro_batches:
        experiment = experiment.with_options({"training.micro_batches": ranks.size})
    parent = None if experiment.start.run == "none" else Parent(experiment)
    return parent.adopted(experiment) if parent else experiment, parent


def check_ranks(experiment: Experiment, ranks: Ranks) -> None:
    """Raise ConfigError where ``ranks`` cannot share the micro-batches of an update evenly."""
    count = experiment.training.batches_an_update
    if count % ranks.size:
        raise ConfigError(
            f"An update has {counted(count, 'micro-batch')} (training.micro_batches), which {ranks.size} ranks cannot "
            f"share evenly: start a number of processes that divides it, or begin a run with another number."
        )


def report_autograd_cells(model: torch.nn.Module, report: Report) -> None:
    """Report the units of ``model`` that train slowly, since nobody has derived their gradient."""
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    cells = [config.cell for config in configs if isinstance(config, RecurrentConfig)]
    for kind in sorted({cell.kind for cell in cells if isinstance(cell, Recorded)}):
        report(Note(f"Unit '{kind}' has no derived gradient, so autograd records each of its steps: it trains slowly."))


def report_frozen_weights(model: torch.nn.Module, report: Report) -> None:
    """Report the weights of ``model`` that are trained, where these are not all."""
    named = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    trained = [name for name, weight in named.items() if weight.requires_grad]
    if len(trained) < len(named):
        count = sum(named[name].numel() for name in trained)
        whole = sum(weight.numel() for weight in named.values())
        report(Note(f"Only {', '.join(trained)} are trained ({count:,} of {whole:,} parameters); the rest is frozen."))


def _with_batch_size(
    experiment: Experiment, model: torch.nn.Module, vocabularies: Collection[int], longest: int, report: Report
) -> Experiment:
    """Return the experiment with a batch that fits into memory."""
    if not longest:
        raise ConfigError("training.batch_tokens = 0 needs a bound on the longest row: set data.max_length.")
    free = free_bytes(experiment.training.device)
    tokens = fitting_tokens(model, vocabularies, longest, free)
    why = "the usual number" if tokens == USUAL else "what is estimated to fit"
    report(Note(f"A batch takes {tokens:,} tokens: {why}; {free / 2**30:.1f} GiB of memory are free."))
    return experiment.with_options({"training.batch_tokens": tokens})
