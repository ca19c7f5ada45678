"""An experiment's data looked at before hours are spent on it: what is in it, what is wrong, what training takes.

Time and memory are not modelled: a trial is ``run_training.train`` for a few seconds, on a sample of the data, so all
that makes training slow or large is in it. BLEU during training is left out, since a network that has learnt nothing
writes no sentences of usual length.
"""

import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.data.examples import LocatedExamples
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.splits import unknown_tokens
from anaphora.datacheck.survey import Survey, survey_corpus
from anaphora.datacheck.tables import Table, survey_tables
from anaphora.errors import AnaphoraError, DataError
from anaphora.events import Event, Note, Progress, Report, Saved, Update, Validated, silent
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.run.weights import parameters
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.data_table import TableData
from anaphora.tasks.registry import task_of
from anaphora.tasks.training_job import TrainingJob, UpdatingJob, not_skipping
from anaphora.text.sampling import sample
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import inflect

SAMPLED = 50_000
"""Lines of the training split that the trial reads at most; a vocabulary is learnt from no more by default."""

SAMPLED_VALID = 500
"""Lines of the validation split that the trial reads at most."""

WARM_UP = 2
"""Updates that are not counted: the first ones take longer."""

_ORDER = ("error", "warning", "note")
_TRIAL = "anaphora-trial-"
_OF_THE_TRIAL = re.compile(rf"{_TRIAL}\w+/(?:data/)?")
"""Folder of a trial in a message: people know nothing of it."""


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


@dataclass
class CheckResult:
    """Findings of a check; splits are missing if an error ended it."""

    experiment: Experiment
    survey: Survey = field(default_factory=Survey)
    estimates: list[Estimate] = field(default_factory=list)
    """One, or none when no trial was asked for or possible."""
    errors: list[Finding] = field(default_factory=list)
    tokens: list[Finding] = field(default_factory=list)
    """Tokens of held-out splits outside the vocabulary."""

    @property
    def trainable(self) -> bool:
        """True if ``anaphora train`` would take the data."""
        return not self.errors

    @property
    def findings(self) -> list[Finding]:
        """All of them, errors first, then warnings, then notes."""
        every = [*self.errors, *self.survey.findings, *self.tokens]
        return sorted(every, key=lambda finding: _ORDER.index(finding.severity))

    def tables(self) -> list[Table]:
        """Everything but the findings, for people."""
        tables = survey_tables(self.survey) if self.survey.sides else []
        return [*tables, *(_estimate_table(found, self.experiment) for found in self.estimates)]

    def json(self) -> dict[str, Any]:
        return {
            "trainable": self.trainable,
            "findings": [finding.json() for finding in self.findings],
            **self.survey.json(),
            "estimate": self.estimates[0].json() if self.estimates else {},
        }


def check(experiment: Experiment, *, trial: float = 5.0, exact: bool = False, report: Report = silent) -> CheckResult:
    """Look at the data of ``experiment``, and train for about ``trial`` seconds (0: not at all) to see what it takes.

    A training split of a million lines or more is sampled, as a finding says, unless the counts are to be ``exact``.
    What keeps the experiment from being trained is an error among the findings, not an exception.
    """
    heard = not_skipping(report)  # what is left out is among the findings, with its lines
    checked = CheckResult(experiment)
    try:
        job = task_of(experiment).job(experiment, heard)
        lowercase = experiment.text.lowercase
        if languages := tuple(experiment.data.languages.values()):
            checked.survey = survey_corpus(job.splits, languages, lowercase=lowercase, exact=exact, report=heard)
        _try_out(checked, job, trial, heard)
    except AnaphoraError as error:
        kind = "data" if isinstance(error, DataError) else "experiment"
        message = _OF_THE_TRIAL.sub("the trial's ", str(error).replace(f"{tempfile.gettempdir()}/{_TRIAL}", _TRIAL))
        checked.errors.append(Finding(kind, "error", "", "", 0, 0, message.rstrip("."), ""))
    return checked


def _try_out(checked: CheckResult, job: TrainingJob, trial: float, report: Report) -> None:
    experiment = checked.experiment
    if trial <= 0:
        return
    if isinstance(job, UpdatingJob):
        found, tokenizers = estimate(experiment, job.splits, trial, report)
        checked.estimates.append(found)
    elif experiment.start.run == "none":  # fitted in one go, which cannot be tried out, to its own vocabulary
        tokenizers = job.learn_vocabulary(report)
    else:
        return
    checked.tokens += _tokens(job.splits, tokenizers, experiment.data.languages)


def _tokens(
    splits: Splits[Any], tokenizers: Mapping[str, Tokenizer], languages: Mapping[str, str]
) -> Iterator[Finding]:
    names = languages
    if len(languages) < 2:  # one text, perhaps what is written for vectors, or none
        of_text = tokenizers.get("text", tokenizers.get("target"))
        names, tokenizers = {"text": "text"}, {"text": of_text} if of_text else {}
    if not tokenizers or getattr(splits.train, "has_words", False):  # whose unknown words are found already
        return
    for part, corpus in ((splits.valid.name, splits.valid), *splits.tests.items()):
        yield from unknown_tokens(part, corpus, tokenizers, names)


def _estimate_table(found: Estimate, experiment: Experiment) -> Table:
    vocabulary = ", ".join(f"{size:,} ({side})" for side, size in found.vocabulary.items())
    without = ", BLEU during training not counted" if experiment.training.metric == "bleu" else ""
    bound = ", as training.minutes says" if 0 < 60 * experiment.training.minutes <= found.seconds else ""
    rows = (
        ("parameters", f"{found.parameters:,}"),
        ("vocabulary", vocabulary),
        ("an epoch", f"{inflect(found.updates, 'update')}, {inflect(found.tokens, 'token')} to predict"),
        ("threads", f"{found.threads}"),
        ("an update", f"{1000 * found.seconds_of_update:.0f} ms"),
        ("time of an epoch", f"about {_time(found.seconds_of_epoch)}{without}"),
        ("time in all", f"about {_time(found.seconds)} for {inflect(found.epochs, 'epoch')} at most{bound}"),
        ("memory", f"{found.memory / 1e9:.1f} GB at most"),
    )
    title = f"What training takes, by a trial of {inflect(found.trial_updates, 'update')} on this machine"
    return Table(title, ("", ""), rows)


def _time(seconds: float) -> str:
    if seconds < 90:
        return inflect(round(seconds), "second")
    return inflect(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def estimate(
    experiment: Experiment, splits: Splits[Any], seconds: float, report: Report = silent
) -> tuple[Estimate, dict[str, Tokenizer]]:
    """Train ``experiment`` for about ``seconds`` on a sample of ``splits``, in a folder that is removed again.

    Also returns the tokenizers of the trial, learnt from the sample. Raises what ``run_training.train`` raises.
    """
    with tempfile.TemporaryDirectory(prefix=_TRIAL) as name:
        folder = Path(name)
        (folder / "data").mkdir()
        sampled = _write_sample(experiment, splits, folder / "data")
        scale, scale_valid = splits.train.count / sampled[0], splits.valid.count / sampled[1]
        watch = _Watch(report if scale == 1 else silent, report, folder)
        train(_trial(experiment, folder / "data", seconds), folder / "run", watch.see)
        run = Run.open(folder / "run")
        return watch.estimate(experiment, scale, scale_valid, run), run.tokenizers()


@dataclass
class _Watch:
    """Listens to a trial."""

    notes: Report
    progress: Report
    folder: Path
    """That of the trial, of which people know nothing."""
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
            case Note(text) if str(self.folder) not in text:
                self.notes(event)
            case Progress():
                self.progress(replace(event, task=f"trial: {event.task}"))

    def estimate(self, experiment: Experiment, scale: float, scale_valid: float, run: Run) -> Estimate:
        """Return what a trial in ``run`` shows; all of the data is so many times its training and validation splits."""
        training, seen = experiment.training, self.updates
        of_epoch = round(seen[0].total * scale)
        timed = seen[WARM_UP:] if len(seen) > 2 * WARM_UP else seen
        of_update = sum(update.seconds for update in timed) / len(timed)
        updates = training.epochs * of_epoch
        validations = max(1.0, updates / max(1, training.validate_every or of_epoch))
        whole = updates * of_update + validations * (self.validation * scale_valid)
        before = (self.first - self.started) * scale
        return Estimate(
            parameters=sum(parameters(run.load("latest").model).values()),
            vocabulary={side: tokenizer.symbols.size for side, tokenizer in run.tokenizers().items()},
            updates=of_epoch,
            tokens=round(of_epoch * sum(update.tokens for update in seen) / len(seen)),
            epochs=training.epochs,
            seconds_of_update=of_update,
            seconds_of_epoch=whole / training.epochs,
            seconds=before + (min(whole, 60 * training.minutes) if training.minutes else whole),
            memory=_peak(),
            trial_updates=len(seen),
            threads=torch.get_num_threads(),
        )


def _write_sample(experiment: Experiment, splits: Splits[Any], folder: Path) -> tuple[int, int]:
    """Return the training and validation splits of the trial as files, and how many lines they hold."""
    sizes = []
    for name, corpus, limit in (("train", splits.train, SAMPLED), ("valid", splits.valid, SAMPLED_VALID)):
        if isinstance(corpus, LocatedExamples):
            sizes.append(corpus.write_sample(folder, name, limit))
        elif isinstance(corpus, PairCorpus):
            real = [part for part in corpus.parts if not part.synthetic]
            sizes.append(0)
            for part in real:
                drawn, _ = sample(part, limit // len(real))
                source, target = part.languages if len(real) > 1 else experiment.data.languages.values()
                place = folder / f"{source}-{target}" if len(real) > 1 else folder
                place.mkdir(exist_ok=True)
                if source == target:  # two columns of one language, which hold no tabs
                    write_lines(place / f"{name}.tsv", map("\t".join, drawn))
                else:
                    write_lines(place / f"{name}.{source}", (one for one, _ in drawn))
                    write_lines(place / f"{name}.{target}", (other for _, other in drawn))
                sizes[-1] += len(drawn)
        else:
            text = list(islice(corpus, limit))
            write_lines(folder / f"{name}.txt", text)
            sizes.append(len(text))
    return sizes[0], sizes[1]


def _trial(experiment: Experiment, data: Path, seconds: float) -> Experiment:
    """Return the experiment over the sample, bounded to one epoch and ``seconds``."""
    directions = ["-".join(two) for two in getattr(experiment.data, "directions", ())]
    files = tuple(f"{two}={data / two}" for two in directions) if len(directions) > 1 else (str(data),)
    places: dict[str, Any] = {"corpus": "none", "files": files} | {name: name for name in ("train", "valid", "test")}
    places |= {"synthetic": ()} if hasattr(experiment.data, "synthetic") else {}
    if isinstance(experiment.data, TableData) and not experiment.data.keeps_rows:
        places |= {"columns": (), "header": ()}
    bounds = {"epochs": 1, "minutes": seconds / 60, "validate_every": 0, "save_every": 0, "metric": "loss"}
    sampled, training = experiment.data.with_options(places), experiment.training.with_options(bounds)
    return experiment.for_trial().with_options({"data": sampled, "training": training})


def _peak() -> int:
    """Bytes that this process held at most until now."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024
