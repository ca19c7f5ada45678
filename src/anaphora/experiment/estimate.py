"""Time and memory of a training, by a trial: ``run_training.train`` for a few seconds, on a sample of the data.

Neither is modelled, so all that makes training slow or large is in the trial. BLEU during training is left out, since a
network that has learnt nothing writes no sentences of usual length; that of a trained one takes little.
"""

import hashlib
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.data.examples import LocatedExamples
from anaphora.events import Event, Note, Progress, Report, Saved, Update, Validated, silent
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.run.weights import parameters
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.data_table import PairData, PairsData, TableData
from anaphora.tasks.registry import task_of
from anaphora.tasks.training_job import UpdatingJob
from anaphora.text.sampling import sample
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.schedule import Linear
from anaphora.wording import inflect

SAMPLED = 50_000
"""Lines of the training split that the trial reads at most; a vocabulary is learnt from no more by default."""

SAMPLED_VALID = 500
"""Lines of the validation split that the trial reads at most."""

WARM_UP = 2
"""Updates that are not counted: the first ones take longer."""

TRIAL = "anaphora-trial-"
"""Beginning of the name of a trial's folder, of which people know nothing."""

MOST_EPOCHS = 3
"""Times the usual epochs that a time is filled with at most."""

_PARTIAL = 3.0
"""Epochs below which a learning rate falls over a fraction of them."""
_SPARE = 0.95
"""Fraction of a time that epochs are to fill."""
TRIAL_SECONDS = 5.0
"""Duration of a trial for the estimate."""
_TRIAL_SHARE = 0.05
"""Fraction of a time that its trial takes at most."""


@dataclass(frozen=True)
class Estimate:
    """Time and memory of the whole training, if it goes on as its trial went."""

    parameters: int
    vocabulary: Mapping[str, int]
    """Vocabulary sizes by side."""
    updates: int
    """Updates of an epoch."""
    tokens: int
    """Predictions of an epoch."""
    epochs: int
    seconds_of_update: float
    seconds_of_epoch: float
    """Seconds of an epoch, its validations and checkpoints included."""
    seconds: float
    """Seconds from the command to the last epoch, or to the bound ``training.minutes``; stopping early takes less."""
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
    bounds = {"epochs": 1, "minutes": seconds / 60, "metric": "loss"}
    with sampled(experiment, splits, bounds) as (trial, folder, _):
        known = list[Event]()  # reported of all the data before, perhaps with other counts
        of_trial = task_of(trial).job(trial, known.append).splits
        scale = _examples_of_epoch(experiment, splits.train) / _examples_of_epoch(trial, of_trial.train)
        scale_valid = splits.valid.count / of_trial.valid.count
        watch = _Watch(report if scale == 1 else silent, report, folder, known)
        train(trial, folder / "run", watch.see)
        run = Run.open(folder / "run")
        return watch.estimate(experiment, scale, scale_valid, run), run.tokenizers()


def _examples_of_epoch(experiment: Experiment, corpus: Any) -> int:
    """Return the examples that an epoch draws of a training split."""
    if isinstance(corpus, PairCorpus) and isinstance(data := experiment.data, PairsData):
        return sum(data.proportions.draws(corpus.parts, [part.count for part in corpus.parts]))
    return int(corpus.count)


@contextmanager
def sampled(
    experiment: Experiment, splits: Splits[Any], bounds: Mapping[str, Any], limit: int = SAMPLED
) -> Iterator[tuple[Experiment, Path, tuple[int, int]]]:
    """Yield the experiment over a sample of ``splits``, its folder, and the lines of the training and validation split.

    It has no validations or checkpoints within an epoch, and the ``bounds`` in its [training]. Of the examples to train
    on, a hash of the seed and each decides which are taken, so that a smaller ``limit`` takes some of those of a larger
    one; of running text it is the beginning. The folder is removed afterwards.
    """
    with tempfile.TemporaryDirectory(prefix=TRIAL) as name:
        data = Path(name) / "data"
        data.mkdir()
        seed = experiment.training.seed
        counts = [
            _write_sample(experiment, corpus, data, split, most, seed)
            for split, corpus, most in (("train", splits.train, limit), ("valid", splits.valid, SAMPLED_VALID))
        ]
        directions = ["-".join(two) for two in getattr(experiment.data, "directions", ())]
        files = tuple(f"{two}={data / two}" for two in directions) if len(directions) > 1 else (str(data),)
        places: dict[str, Any] = {"corpus": "none", "files": files}
        places |= {"train": "train", "valid": "valid", "test": "test"}
        places |= {"synthetic": ()} if hasattr(experiment.data, "synthetic") else {}
        if isinstance(experiment.data, TableData) and not experiment.data.keeps_rows:
            places |= {"columns": (), "header": ()}
        elif isinstance(experiment.data, PairData):
            places |= {"columns": (), "quoted": False}
        limits = {"validate_every": 0, "save_every": 0, "minutes": 0.0} | dict(bounds)
        tables = {"data": experiment.data.with_options(places), "training": experiment.training.with_options(limits)}
        yield experiment.for_trial().with_options(tables), Path(name), (counts[0], counts[1])


def _write_sample(experiment: Experiment, corpus: Any, folder: Path, name: str, limit: int, seed: int) -> int:
    """Write at most ``limit`` examples of a split into a folder; returns how many there are."""
    drawn: list[Any]
    if isinstance(corpus, LocatedExamples):
        drawn = _draw_examples(corpus, limit, seed)
        corpus.write(drawn, folder, name)
    elif isinstance(corpus, PairCorpus):
        real = [part for part in corpus.parts if not part.synthetic]
        sides = experiment.data.languages.values()
        if len(real) == 1:
            return _write_pairs(real[0], (*sides,), folder, name, limit, seed)
        whole, count = sum(one.count for one in real), 0
        for one in real:
            most = max(1, round(limit * one.count / whole))
            count += _write_pairs(one, one.languages, folder / "-".join(one.languages), name, most, seed)
        return count
    else:
        drawn = list(islice(corpus, limit))
        write_lines(folder / f"{name}.txt", drawn)
    return len(drawn)


def _draw_examples(corpus: LocatedExamples[Any], limit: int, seed: int) -> list[Any]:
    """Return ``limit`` examples, and the first of each label that these lack."""
    first = dict[str, Any]()

    def seen() -> Iterator[Any]:
        for example in corpus.examples():
            first.update({label: example for label in corpus.labels_in(example) if label not in first})
            yield example

    drawn = _nested(sample(seen(), SAMPLED)[0], limit, seed)
    known = {label for example in drawn for label in corpus.labels_in(example)}
    for label, example in first.items():
        if label not in known:
            drawn.append(example)
            known.update(corpus.labels_in(example))
    return drawn


def _write_pairs(corpus: PairCorpus, languages: Sequence[str], folder: Path, name: str, limit: int, seed: int) -> int:
    """Write at most ``limit`` pairs of two languages into a folder; returns how many there are."""
    drawn = _nested(sample(corpus, SAMPLED)[0], limit, seed)
    source, target = languages
    folder.mkdir(exist_ok=True)
    if source == target:  # two columns of one language, which hold no tabs
        write_lines(folder / f"{name}.tsv", map("\t".join, drawn))
    else:
        write_lines(folder / f"{name}.{source}", (one for one, _ in drawn))
        write_lines(folder / f"{name}.{target}", (other for _, other in drawn))
    return len(drawn)


def _nested(examples: list[Any], limit: int, seed: int) -> list[Any]:
    """Return ``limit`` examples in their order: those with the smallest hashes."""

    def place(number: int) -> bytes:
        text = getattr(examples[number], "text", examples[number])
        return hashlib.blake2b(f"{seed}\t{text}".encode(errors="surrogatepass"), digest_size=8).digest()

    return [examples[number] for number in sorted(sorted(range(len(examples)), key=place)[:limit])]


def fit_to_time(experiment: Experiment, smaller: Callable[[int], Experiment] | None, report: Report) -> Experiment:
    """Return the experiment with as many epochs as fit into its ``training.minutes``, which is reported.

    One that the data chose gets up to ``MOST_EPOCHS`` times its usual epochs, and where none fits, it becomes that for
    less data: ``smaller`` returns the experiment for at most so much. Another (None) gets fewer epochs at most, and
    only where its learning rate depends on them. Raises what ``run_training.train`` raises.
    """
    task, seconds = task_of(experiment), 60 * experiment.training.minutes
    job, schedule = task.job(experiment, silent), experiment.training.schedule
    falls = isinstance(schedule, Linear) and not schedule.epochs
    if not isinstance(job, UpdatingJob) or not (smaller or falls):
        return experiment
    amounts = [tier[0] for tier in task.tiers if tier[0] < job.splits.train.count] if smaller else []
    while True:
        found, _ = estimate(experiment, job.splits, min(TRIAL_SECONDS, _TRIAL_SHARE * seconds))
        fit = _SPARE * seconds / found.seconds_of_epoch
        if fit >= 1 or not smaller or not amounts or (other := smaller(amounts.pop())) == experiment:
            break
        experiment = other
        why = f"An epoch takes about {duration(found.seconds_of_epoch)} here, so the choice is that for less data"
        report(Note(f"{why}: {task.describe(other.tables(), None)}."))
    usual, patience = experiment.training.epochs, experiment.training.patience
    most = usual * (MOST_EPOCHS if smaller else 1)
    whole = not falls or fit >= min(_PARTIAL, most)
    epochs = min(most, max(1, int(fit) if whole else math.ceil(fit)))
    changes: dict[str, Any] = {"epochs": epochs}
    if not whole:
        changes["schedule.epochs"] = round(fit, 2)
    if epochs > usual:  # validations before the rate has fallen are worth as much less
        changes["patience"] = math.ceil(patience * epochs / usual)
    made = f"training makes {epochs:,}, where {usual:,} are usual"
    rate = "" if whole else f", and its learning rate falls over {fit:.2g}"
    time = duration(seconds)
    report(Note(f"An epoch fits about {fit:,.3g} times into {time} here: {made}{rate}."))
    return experiment.with_options({f"training.{name}": value for name, value in changes.items()})


def duration(seconds: float) -> str:
    """Return a time in words: "40 seconds", "12 minutes", "2.5 hours"."""
    if seconds < 90:
        return inflect(round(seconds), "second")
    return inflect(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@dataclass
class _Watch:
    """A listener to the events of a trial."""

    notes: Report
    progress: Report
    folder: Path
    """Folder of the trial, which no message names."""
    known: Sequence[Event]
    """Events that are not passed on."""
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
            case Note(text) if str(self.folder) not in text and event not in self.known:
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


def _peak() -> int:
    """Bytes that this process held at most until now."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024
