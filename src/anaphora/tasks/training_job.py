"""Training of a task's models: its data found, tokenizers learnt, a network trained."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch
from anaphora.data.columns import Column, Integers
from anaphora.data.corpora import PairCorpus, Splits
from anaphora.data.partitions import Partitions
from anaphora.data.ragged import token_counts
from anaphora.data.sources import translation_splits
from anaphora.errors import ConfigError
from anaphora.events import Event, Note, Report, Saved, Skipped, Validated
from anaphora.nn.counts import Counts
from anaphora.nn.outputs.output import Output
from anaphora.protocols import Batches, Carry, VocabularyInfo
from anaphora.run import Run
from anaphora.run.weights import fill, tensors_of
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairData
from anaphora.text import tokenization
from anaphora.text.tokenizer import SYNTHETIC, Tokenizer, language_tag
from anaphora.training import loop
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Outcome, Record, Stop, Validate
from anaphora.training.ranks import Ranks
from anaphora.training.state import TrainingState

ENCODED = "encoded"
"""Folder of encoded data in that of a run, with a folder for each split."""
TRAIN = Path(ENCODED) / "train"
"""Folder of the encoded training split."""


Loop = Callable[[torch.nn.Module, Batches, Callable[[], Mapping[str, float]]], None]
"""Training loop of a caller: it updates a network on batches, and may ask for the metrics of the validation split."""


@dataclass(frozen=True)
class TrainingContext:
    """A run folder that is locked, or followed, and the network that learns in it."""

    run: Run
    experiment: ExperimentBase
    model: torch.nn.Module
    tokenizers: Mapping[str, Tokenizer]
    has_given_weights: bool = False
    """True for a new run some of whose weights are those of other runs or files."""
    loop: Loop | None = None
    """Training loop that replaces ours."""
    training: TrainingConfig = field(init=False)
    """The [training] table of the experiment."""
    encoded: Path = field(init=False)
    """Folder of its encoded data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "training", self.experiment.training)
        object.__setattr__(self, "encoded", self.run.path / ENCODED)


class TrainingJob(ABC):
    """An experiment whose data has been found, counted and checked."""

    _experiment: Any
    splits: Splits[Any]
    """The training, validation and test splits."""

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by split."""
        return {"train": self.splits.train.fingerprint, "valid": self.splits.valid.fingerprint}

    def with_data_statistics(self, experiment: ExperimentBase, report: Report) -> ExperimentBase:
        """The ``experiment`` of a new run with what the size of its data decides, here too; the same by default."""
        return experiment

    def with_token_statistics(self, experiment: ExperimentBase, tokenizers: Mapping[str, Tokenizer]) -> ExperimentBase:
        """Return the ``experiment`` of a new run with what the lengths of its texts decide; the same by default."""
        return experiment

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Return the tokenizers of every side, from the training split; by default that of its text."""
        experiment, text = self._experiment, {"text": self.splits.train.lines}
        return tokenization.fit(experiment.text, text, report, languages=experiment.data.languages)

    @abstractmethod
    def prepare(self, context: TrainingContext, report: Report) -> None:
        """Give the model what it has to know of the training split before it learns, where it does not know yet."""

    @abstractmethod
    def learn(self, context: TrainingContext, report: Report, stop: Stop, ranks: Ranks) -> Outcome:
        """Fit the model to the training split, from where its run stands to the end or until ``stop`` says so.

        What is known by then is in the run: its log, and its checkpoints with the best of them marked. The text is
        encoded in the run's folder ``encoded``, again only if it changed. All ``ranks`` call this alike.
        """


class UpdatingJob(TrainingJob):
    """A network that learns update by update, over splits that are encoded in the run unless they were before.

    The [data] of its experiment has ``max_length``.
    """

    unit = "tokens"
    """Noun of the predictions that training counts, in the plural."""

    @property
    def longest(self) -> int:
        """Tokens, or vectors, of the longest row there may be in a batch; 0 when nothing bounds them."""
        return int(self._experiment.data.max_length)

    def counts(self, context: TrainingContext, report: Report) -> Integers:
        """Count each token to be predicted in the training split; by default there are no tokens."""
        return np.zeros(0, np.int64)

    @abstractmethod
    def batches(self, context: TrainingContext, report: Report) -> Batches:
        """Return the training split in batches."""

    @abstractmethod
    def validation(self, context: TrainingContext, report: Report) -> Validate:
        """Return the function that measures a model on the validation split."""

    def recording(self, context: TrainingContext) -> Record | None:
        """Return the function that records a model at each validation, or None."""
        return None

    def prepare(self, context: TrainingContext, report: Report) -> None:
        """Tell the model token counts, and save weights that it was given."""
        self.set_token_counts(context, report)
        if context.has_given_weights:
            # so that going on never needs the other runs and files again, which may change or go
            TrainingState(context.model, context.training, context.experiment.better).save(context.run, report)

    def set_token_counts(self, context: TrainingContext, report: Report) -> None:
        """Tell the model how often each token is to be predicted, where it asks for that and does not know yet."""
        unknown = [module for module in context.model.modules() if isinstance(module, Counts) and not module.known]
        if unknown:
            counts_V = torch.from_numpy(self.counts(context, not_skipping(report)))
            for module in unknown:
                module.set_token_counts(counts_V)

    def learn(self, context: TrainingContext, report: Report, stop: Stop, ranks: Ranks) -> Outcome:
        """Update by update; see ``TrainingJob.learn``."""
        run, training = context.run, context.training
        words = max((module.partition for module in context.model.modules() if isinstance(module, Output)), default=0)

        def ready() -> tuple[Batches, Validate, Record | None]:
            batches, validate = self.batches(context, report), self.validation(context, report)
            return Partitions(batches, words) if words else batches, validate, self.recording(context)

        batches, validate, record = ranks.in_turn(ready)
        if own := context.loop:
            fit = partial(_fit_by_loop, own, context.model, batches, validate)
            return ranks.broadcast(lambda: fit_once(context, fit, report))
        better = context.experiment.better
        how: Any = {"better": better, "record": record, "unit": self.unit, "ranks": ranks}
        return loop.train(context.model, batches, training, run, validate, report, stop, **how)


class FittingJob(TrainingJob):
    """Training without updates: one checkpoint, named after update 1, and one validation."""

    @abstractmethod
    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        """Fit the model; returns its metrics on the validation split."""

    def prepare(self, context: TrainingContext, report: Report) -> None:
        """Refuse a loop: fitting looks at the whole of the training split."""
        if context.loop:
            raise ConfigError("A model that is fitted in one go has no updates: leave the loop out.")

    def learn(self, context: TrainingContext, report: Report, stop: Stop, ranks: Ranks) -> Outcome:
        """Fit the model, unless the run has it already: on the first rank; the others wait."""
        return ranks.broadcast(lambda: fit_once(context, lambda: self.fit(context, report), report))


def fit_once(context: TrainingContext, fit: Callable[[], Mapping[str, float]], report: Report) -> Outcome:
    """Call ``fit``, which returns metrics, and save the model and them, unless the run has a checkpoint already."""
    run, started = context.run, time.monotonic()
    if 1 not in run.checkpoints():
        if run.checkpoints():  # of the weights of other runs or files, which a resumed one has not read
            given = run.load("latest", report)
            fill(context.model, given.model, given.path / "model.safetensors")
        figures = fit()
        event = Validated(update=1, epoch=1, metrics=figures, best=True)
        run.rewind(0)  # what a killed process left
        run.metrics.add_validation(event, report)
        report(event)
        report(Saved(1, run.save(1, tensors_of(context.model), {}, {}, report=report)))
    else:
        run.rewind(1)  # a process may have been killed before ``latest`` named it
        figures = run.metrics.validation(1)
    if run.best() is None:  # so it is too where a process was killed right after saving
        run.write_card(figures, report)
        run.mark_best(1)
    return Outcome("fitted", 1, 1, figures, 0, time.monotonic() - started)


def _fit_by_loop(own: Loop, model: torch.nn.Module, batches: Batches, validate: Validate) -> Mapping[str, float]:
    """Return the metrics of a network after the loop of a caller."""

    def validated() -> Mapping[str, float]:
        with torch.no_grad():
            metrics = validate(model.eval())
        model.train()
        return metrics

    own(model.train(), batches, validated)
    return validated()


def pair_splits(experiment: ExperimentBase, report: Report) -> Splits[PairCorpus]:
    """Return the splits of an experiment over pairs; errors as for ``data.sources.translation_splits``."""
    data, seed = experiment.data, experiment.training.seed
    assert isinstance(data, PairData)
    given: Any = {"filters": data.filters, "synthetic": [*map(Path, getattr(data, "synthetic", ()))]}
    return translation_splits(data.paths(), data.source, data.target, data.names, seed=seed, report=report, **given)


class PairJob(TrainingJob):
    """An experiment whose pairs have been found."""

    splits: Splits[PairCorpus]
    learnt_from: PairCorpus
    """Training split as a model and its vocabulary learn from it."""
    find_data = staticmethod(pair_splits)
    """Finds and checks the data."""

    def __init__(self, experiment: ExperimentBase, report: Report) -> None:
        """Find and check the data; errors as for ``find_data``."""
        self._experiment, self.splits = experiment, self.find_data(experiment, report)
        self.learnt_from = self.splits.train

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        train, experiment = self.learnt_from, self._experiment
        balanced = partial(experiment.data.proportions.balance, train)
        sides = {"source": lambda: (one for one, _ in balanced()), "target": lambda: (other for _, other in balanced())}
        languages = {side: codes.split(",")[0] for side, codes in experiment.data.languages.items()}
        others: Any = {"languages": languages, "dictionary": self._dictionary(report), "tags": self.tags}
        return tokenization.fit(experiment.text, sides, report, **others)

    @property
    def tags(self) -> list[str]:
        """Return the tags that its sources need: of targets, where they are several, and of synthetic pairs."""
        parts = self.learnt_from.parts
        targets = dict.fromkeys(language_tag(part.languages[1]) for part in parts)
        return [*(targets if len(targets) > 1 else ()), *([SYNTHETIC] if any(one.synthetic for one in parts) else ())]

    def prefix(self, part: PairCorpus, source: Tokenizer) -> tuple[int, ...]:
        """Return the tags in front of the sources of a part; ConfigError for one that the vocabulary lacks."""
        names = [*([SYNTHETIC] if part.synthetic else ()), language_tag(part.languages[1])]
        if lacks := {*names} & {*self.tags} - {*source.tags}:
            raise ConfigError(
                f"The vocabulary taken over lacks {min(lacks)}, which this data needs: leave --from (start.run) out."
            )
        return source.tag_ids(names)

    def prefixes(self, source: Tokenizer) -> list[tuple[int, ...]]:
        """Return the ``prefix`` of each part of the training split."""
        return [self.prefix(part, source) for part in self.learnt_from.parts]

    def _dictionary(self, report: Report) -> Mapping[str, str] | None:
        """Return the translations that a vocabulary puts in for words that it lacks, if it does."""
        return None


def report_unknown(ids: Integers | Column, symbols: VocabularyInfo, run: Run, report: Report) -> None:
    """Note the fraction of unknown tokens in an encoded validation split, if any, where ``run`` is not resumed."""
    if run.metrics.lines():
        return
    unknown = int(token_counts(ids, symbols.size)[symbols.unk])
    if unknown:
        report(
            Note(
                f"{unknown / len(ids):.2%} of the tokens of the validation split are unknown ({unknown:,} of "
                f"{len(ids):,}). All count as the same token, <unk>, so the loss looks better than it is."
            )
        )


def not_skipping(report: Report) -> Report:
    """Return the same, but for what was left out of the data: that is said elsewhere."""

    def quietly(event: Event) -> None:
        if not isinstance(event, Skipped):
            report(event)

    return quietly


def mean_loss(model: torch.nn.Module, batches: Sequence[Batch]) -> float:
    """Nats a prediction over ``batches``, what a model carries taken from each to the next."""
    nats, count = 0.0, 0
    carry: Carry = {}
    for batch in batches:
        loss, carry = model(batch, carry or None)
        nats += float(loss.sum)
        count += loss.count
    return nats / count
