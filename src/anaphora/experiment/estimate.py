"""Time and memory of a training to come: measured in a short trial of the training itself, on a sample of its data.

Nothing is modelled: the trial is ``run_training.train`` for a few seconds, so all that makes training slow or large is
in it. BLEU during training is left out, since a network that has learnt nothing writes no sentences of usual length.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from anaphora.data.corpora import LocatedCorpus, PairCorpus, Splits
from anaphora.events import Event, Note, Progress, Report, Saved, Update, Validated, silent
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.run.weights import parameters
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.text.sampling import sample
from anaphora.text.tokenizer import Tokenizer

SAMPLED = 50_000
"""Lines of the training split that the trial reads at most; a vocabulary is learnt from no more by default."""

SAMPLED_VALID = 500
"""Lines of the validation split that the trial reads at most."""

WARM_UP = 2
"""Updates that are not counted: the first ones take longer."""


@dataclass(frozen=True)
class Estimate:
    """Time and memory of the whole training, if it goes on as its trial went."""

    parameters: int
    vocabulary: Mapping[str, int]
    """Vocabulary sizes by side."""
    updates: int
    """Of an epoch."""
    tokens: int
    """Predictions of an epoch."""
    epochs: int
    seconds_of_update: float
    seconds_of_epoch: float
    """Its validations and checkpoints included."""
    seconds: float
    """From the command to the last epoch, or to the bound ``training.minutes``; stopping early takes less."""
    memory: int
    """Bytes that the process held at most during the trial."""
    trial_updates: int
    threads: int

    def json(self) -> dict[str, Any]:
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in vars(self).items()}


def estimate(
    experiment: Experiment, splits: Splits[Any], seconds: float, report: Report = silent
) -> tuple[Estimate, dict[str, Tokenizer]]:
    """Train ``experiment`` for about ``seconds`` on a sample of ``splits``, in a folder that is removed again.

    Also returns the tokenizers of the trial, learnt from the sample. Raises what ``run_training.train`` raises.
    """
    with tempfile.TemporaryDirectory(prefix="anaphora-trial-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        sampled = _write_sample(experiment, splits, folder / "data")
        scale, scale_valid = splits.train.count / sampled[0], splits.valid.count / sampled[1]
        watch = _Watch(report if scale == 1 else silent, report)
        train(_trial(experiment, folder / "data", seconds), folder / "run", watch.see)
        run = Run.open(folder / "run")
        tokenizers = run.tokenizers()
        learnt = sum(parameters(run.load("latest").model).values())
    measured = watch.measured(scale, scale_valid)
    return _whole(experiment, measured, learnt, tokenizers), tokenizers


@dataclass
class _Measured:
    """Measurements of a trial, scaled to all of the data."""

    updates: int
    tokens: int
    seconds_of_update: float
    seconds_of_validation: float
    seconds_before: float
    trial_updates: int


@dataclass
class _Watch:
    """Listens to a trial."""

    notes: Report
    progress: Report
    started: float = field(default_factory=time.monotonic)
    updates: list[Update] = field(default_factory=list)
    first: float = 0.0
    last: float = 0.0
    validation: float = 0.0

    def see(self, event: Event) -> None:
        now = time.monotonic()
        match event:
            case Update():
                self.first = self.first or now - event.seconds
                self.last = now
                self.updates.append(event)
                self.progress(Progress("a short trial of the training", len(self.updates), 0, "updates"))
            case Validated() | Saved():
                self.validation = now - self.last
            case Note():
                self.notes(event)
            case Progress():
                self.progress(replace(event, task=f"trial: {event.task}"))

    def measured(self, scale: float, scale_valid: float) -> _Measured:
        total = round(self.updates[0].total * scale)
        counted = self.updates[WARM_UP:] if len(self.updates) > 2 * WARM_UP else self.updates
        return _Measured(
            updates=total,
            tokens=round(total * sum(update.tokens for update in self.updates) / len(self.updates)),
            seconds_of_update=sum(update.seconds for update in counted) / len(counted),
            seconds_of_validation=self.validation * scale_valid,
            seconds_before=(self.first - self.started) * scale,
            trial_updates=len(self.updates),
        )


def _write_sample(experiment: Experiment, splits: Splits[Any], folder: Path) -> tuple[int, int]:
    """The training and validation splits of the trial as files, and how many lines they hold."""
    sizes = []
    for name, corpus, limit in (("train", splits.train, SAMPLED), ("valid", splits.valid, SAMPLED_VALID)):
        if isinstance(corpus, LocatedCorpus):
            sizes.append(corpus.write_sample(folder, name, limit))
        elif isinstance(corpus, PairCorpus):
            drawn, _ = sample(corpus, limit)
            source, target = experiment.data.languages.values()
            if source == target:  # two columns of one language, which hold no tabs
                write_lines(folder / f"{name}.tsv", map("\t".join, drawn))
            else:
                write_lines(folder / f"{name}.{source}", (one for one, _ in drawn))
                write_lines(folder / f"{name}.{target}", (other for _, other in drawn))
            sizes.append(len(drawn))
        else:
            text = list(islice(corpus, limit))
            write_lines(folder / f"{name}.txt", text)
            sizes.append(len(text))
    return sizes[0], sizes[1]


def _trial(experiment: Experiment, data: Path, seconds: float) -> Experiment:
    """The experiment over the sample, bounded to one epoch and ``seconds``."""
    places = {"corpus": "none", "files": (str(data),), "train": "train", "valid": "valid", "test": "test"}
    bounds = {"epochs": 1, "minutes": seconds / 60, "validate_every": 0, "save_every": 0, "metric": "loss"}
    sampled, training = experiment.data.with_options(places), experiment.training.with_options(bounds)
    return experiment.for_trial().with_options({"data": sampled, "training": training})


def _whole(experiment: Experiment, measured: _Measured, learnt: int, tokenizers: Mapping[str, Tokenizer]) -> Estimate:
    training = experiment.training
    every = training.validate_every or measured.updates
    updates = training.epochs * measured.updates
    validations = max(1.0, updates / max(1, every))
    whole = updates * measured.seconds_of_update + validations * measured.seconds_of_validation
    return Estimate(
        parameters=learnt,
        vocabulary={side: tokenizer.symbols.size for side, tokenizer in tokenizers.items()},
        updates=measured.updates,
        tokens=measured.tokens,
        epochs=training.epochs,
        seconds_of_update=measured.seconds_of_update,
        seconds_of_epoch=whole / training.epochs,
        seconds=measured.seconds_before + (min(whole, 60 * training.minutes) if training.minutes else whole),
        memory=_peak(),
        trial_updates=measured.trial_updates,
        threads=torch.get_num_threads(),
    )


def _peak() -> int:
    """Bytes that this process held at most until now."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024
