"""The plan of a training: all that it needs of data, other runs and options, resolved before anything is written."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.experiment.memory import USUAL, check_memory, fitting_tokens, free_bytes, most_tokens
from anaphora.experiment.parent_run import Parent
from anaphora.experiment.weight_sources import EncoderStart, word_vectors
from anaphora.run import Run
from anaphora.run.layout import EXPERIMENT
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import task_of
from anaphora.tasks.task import Task, WeightSource
from anaphora.tasks.training_job import PairJob, TrainingJob, UpdatingJob
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.ranks import Ranks
from anaphora.wording import inflect

_ROW = 100
"""Tokens of the longest row where nothing bounds it, for an estimate."""


@dataclass(frozen=True)
class Plan:
    """Everything that a training needs."""

    experiment: Experiment
    """Experiment with nothing left open."""
    task: Task
    job: TrainingJob
    """Training job, its data found and checked."""
    tokenizers: Mapping[str, Tokenizer]
    """Tokenizers by side."""
    model: torch.nn.Module
    """A new network; its weights are those that training starts from."""
    has_given_weights: bool = False
    """True if some of these are those of other runs or files."""


def plan_new(experiment: Experiment, report: Report, ranks: Ranks) -> Plan:
    """Return the plan of a new run; errors as for ``run_training.train``."""
    experiment, task, parent, of_task = resolve_runs(experiment, ranks)
    trained = parent if parent and experiment.start.gives_weights else None
    sources: list[WeightSource | None] = [trained]
    if experiment.vector_files:
        sources.append(word_vectors(experiment, trained.begun if trained else None))
    if experiment.start.encoder != "none":
        sources.append(EncoderStart(experiment))
    job = task.job(experiment, report)
    experiment = job.with_data_statistics(experiment, report)
    tokenizers = parent.tokenizers(lambda: job.learn_vocabulary(report)) if parent else job.learn_vocabulary(report)
    if parent:
        parent.report_new_tokens(experiment, job.splits.train, report)
    if isinstance(job, PairJob):
        job.prefixes(tokenizers["source"])  # refuses a vocabulary that lacks one
    experiment = job.with_token_statistics(experiment, tokenizers)
    sizes = {tokenizer.symbols.size for tokenizer in tokenizers.values()}
    longest = job.longest if isinstance(job, UpdatingJob) else None
    if longest is not None:
        shape = task.outline(experiment, tokenizers, "The experiment")
        check_memory(shape, experiment, sizes, longest or _ROW, most_tokens(job.splits.train.paths))
    model = task.build(experiment, tokenizers, "The experiment")
    cast(Any, model).initialise(experiment.training.seed)
    given = [source for source in (*sources, *of_task) if source]
    for source in given:
        source.load_into(model, tokenizers, report)
    if longest is not None and not experiment.training.batch_tokens:
        experiment = _with_batch_size(experiment, model, sizes, longest, report)
    return Plan(experiment, task, job, tokenizers, model, has_given_weights=bool(given))


def plan_of(run: Run, begun: Experiment, experiment: Experiment, job: TrainingJob) -> Plan:
    """Return the plan of a ``run``, ``begun`` with an experiment that may have other bounds or places now."""
    task, tokenizers = task_of(begun), run.tokenizers()
    model = task.build(begun, tokenizers, str(run.path / EXPERIMENT))
    cast(Any, model).initialise(begun.training.seed)
    return Plan(experiment, task, job, tokenizers, model)


def resolve_runs(
    experiment: Experiment, ranks: Ranks
) -> tuple[Experiment, Task, Parent | None, Sequence[WeightSource]]:
    """Return an experiment with what the runs that it names and the number of ranks decide, and its task.

    Behind them the run that it starts from, and the sources of weights that its task has besides. ConfigError where
    the ``ranks`` or these runs do not fit it.
    """
    if ranks.size > 1 and not experiment.training.micro_batches:
        experiment = experiment.with_options({"training.micro_batches": ranks.size})
    check_ranks(experiment, ranks)
    parent = None if experiment.start.run == "none" else Parent(experiment)
    if parent:
        experiment = parent.adopt(experiment)
    task = task_of(experiment)
    experiment, sources = task.with_runs(experiment, parent.begun if parent else None)
    return experiment, task, parent, sources


def check_ranks(experiment: Experiment, ranks: Ranks) -> None:
    """Raise ConfigError where ``ranks`` cannot share the micro-batches of an update evenly."""
    if ranks.size > 1 and (count := experiment.training.batches_an_update) % ranks.size:
        raise ConfigError(
            f"An update has {inflect(count, 'micro-batch')} (training.micro_batches), which {ranks.size} ranks cannot "
            f"share evenly: start a number of processes that divides it, or begin a run with another number."
        )


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
