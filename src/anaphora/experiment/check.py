"""An experiment's data looked at before hours are spent on it: what is in it, what is wrong, what training takes."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from anaphora.data.corpora import PairCorpus, Splits, TextCorpus
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.forecast import SUBSETS, Forecast, SubsetTraining, expect
from anaphora.datacheck.splits import unknown_tokens
from anaphora.datacheck.survey import Survey, survey_corpus
from anaphora.datacheck.tables import Table, survey_tables
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.evaluation.segments import SegmentMetric
from anaphora.events import Event, Progress, Report, Update, silent
from anaphora.experiment.estimate import SAMPLED, TRIAL, TRIAL_SECONDS, Estimate, duration, estimate, sampled
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.evaluation import Request
from anaphora.tasks.registry import task_of
from anaphora.tasks.training_job import TrainingJob, UpdatingJob, not_skipping
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import inflect

LEAST_SECONDS = 60.0
"""Time from which on a trial is a forecast."""
LEAST_EXAMPLES = 100
"""Examples that a forecast needs."""
LEAST_UPDATES = 150
"""Updates that the smallest subset of a forecast needs: scores after fewer tell nothing."""

_SPARE = 0.9
"""Fraction of the time of a forecast that its epochs are to take."""
_SHOWN = 2
"""Metrics of a forecast."""
_ORDER = ("error", "warning", "note")
_OF_THE_TRIAL = re.compile(rf"{TRIAL}\w+/(?:data/)?")
"""Folder of a trial in a message: people know nothing of it."""


@dataclass
class CheckResult:
    """Findings of a check; splits are missing if an error ended it."""

    experiment: Experiment
    survey: Survey = field(default_factory=Survey)
    estimates: list[Estimate] = field(default_factory=list)
    """One, or none when no trial was asked for or possible."""
    forecasts: list[Forecast] = field(default_factory=list)
    """One where the trial was long enough."""
    errors: list[Finding] = field(default_factory=list)
    tokens: list[Finding] = field(default_factory=list)
    """Tokens of held-out splits outside the vocabulary, and why there is no forecast."""

    @property
    def trainable(self) -> bool:
        """True if ``anaphora train`` would take the data."""
        return not self.errors

    @property
    def findings(self) -> list[Finding]:
        """All of them, errors first, then warnings, then notes."""
        forecasts = [Finding("forecast", "note", "", "", 0, 0, str(found), "") for found in self.forecasts]
        every = [*self.errors, *self.survey.findings, *self.tokens, *forecasts]
        return sorted(every, key=lambda finding: _ORDER.index(finding.severity))

    def tables(self) -> list[Table]:
        """Return everything but the findings, for people."""
        tables = survey_tables(self.survey) if self.survey.sides else []
        forecasts = [
            Table("Scores on the validation split", ("", *found.trainings[0].metrics), tuple(found.rows()))
            for found in self.forecasts
        ]
        return [*tables, *(_estimate_table(found, self.experiment) for found in self.estimates), *forecasts]

    def json(self) -> dict[str, Any]:
        return {
            "trainable": self.trainable,
            "findings": [finding.json() for finding in self.findings],
            **self.survey.json(),
            "estimate": self.estimates[0].json() if self.estimates else {},
            "forecast": self.forecasts[0].json() if self.forecasts else {},
        }


def check(
    experiment: Experiment, *, trial: float = TRIAL_SECONDS, exact: bool = False, report: Report = silent
) -> CheckResult:
    """Look at the data of ``experiment``, and train for about ``trial`` seconds (0: not at all) to see what it takes.

    In ``LEAST_SECONDS`` or more, subsets of the data are trained on too, to forecast the scores of the whole training.
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
        checked.errors.append(Finding(kind, "error", "", "", 0, 0, _sentence(error), ""))
    return checked


def _sentence(error: AnaphoraError) -> str:
    """Return the message of an error without the folder of a trial."""
    message = str(error).replace(f"{tempfile.gettempdir()}/{TRIAL}", TRIAL)
    return _OF_THE_TRIAL.sub("the trial's ", message).rstrip(".")


def _try_out(checked: CheckResult, job: TrainingJob, trial: float, report: Report) -> None:
    experiment = checked.experiment
    if trial <= 0:
        return
    if isinstance(job, UpdatingJob):
        is_forecast = trial >= LEAST_SECONDS
        found, tokenizers = estimate(experiment, job.splits, TRIAL_SECONDS if is_forecast else trial, report)
        checked.estimates.append(found)
        try:
            if is_forecast:
                checked.forecasts.append(_forecast(experiment, job.splits, found, trial, report))
        except AnaphoraError as error:
            checked.tokens.append(Finding("forecast", "warning", "", "", 0, 0, f"no forecast: {_sentence(error)}", ""))
    elif experiment.start.run == "none":  # fitted in one go, which cannot be tried out, to its own vocabulary
        tokenizers = job.learn_vocabulary(report)
    else:
        return
    checked.tokens += _tokens(job.splits, tokenizers, experiment.data.languages)


def _forecast(experiment: Experiment, splits: Splits[Any], found: Estimate, seconds: float, report: Report) -> Forecast:
    """Train ``experiment`` on subsets of ``splits`` for about ``seconds`` in all, by the speed that was ``found``.

    Raises ConfigError for too few examples or too little time, and what ``run_training.train`` raises.
    """
    units = {PairCorpus: "pair", TextCorpus: "line"}
    unit, count, epochs = units.get(type(splits.train), "example"), splits.train.count, experiment.training.epochs
    whole = epochs * found.seconds_of_epoch
    sizes = subset_sizes(count, _SPARE * seconds / whole)
    if count < LEAST_EXAMPLES:
        raise ConfigError(f"{inflect(count, unit)} are too few, {LEAST_EXAMPLES} are needed.")
    if sizes[-1] < count and epochs * found.updates * sizes[0] < LEAST_UPDATES * count:
        takes = f"a full training takes about {duration(whole)}"
        raise ConfigError(f"{duration(seconds)} are too short, since {takes}: allow about as long.")
    trainings = [train_subset(experiment, splits, unit, size, report) for size in sizes]
    expected = {n: {name: expect(trainings, name, n) for name in trainings[0].metrics} for n in (count, 2 * count)}
    return Forecast(unit, trainings, expected)


def subset_sizes(count: int, times: float) -> list[int]:
    """Return the sizes of the subsets of ``count`` examples whose trainings take ``times`` as long as that of all."""
    largest = min(count, SAMPLED, times / sum(SUBSETS) * count)
    return [round(size * largest) for size in SUBSETS]


def train_subset(
    experiment: Experiment, splits: Splits[Any], unit: str, examples: int, report: Report
) -> SubsetTraining:
    """Train on so many examples, and score the best checkpoint on the validation split."""
    task = f"forecast: training on {inflect(examples, unit)}"

    def progress(event: Event) -> None:
        if isinstance(event, Update):
            done = (event.epoch - 1) * event.total + event.done
            report(Progress(task, done, event.epochs * event.total, "updates"))

    with sampled(experiment, splits, {}, examples) as (sample, folder, (count, _)):
        train(sample, folder / "run", progress)
        [scored] = task_of(sample).evaluate([folder / "run"], Request(keep=False), silent).scored
    metrics = dict[str, SegmentMetric]()
    for name, scores in scored.results.items():
        of_direction = f"{name.split()[0]} " if len(scored.results) > 1 else ""
        metrics |= {f"{of_direction}{metric.name}": metric for metric in scores.segment_metrics()[:_SHOWN]}
    return SubsetTraining(count, metrics)


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
        ("time of an epoch", f"about {duration(found.seconds_of_epoch)}{without}"),
        ("time in all", f"about {duration(found.seconds)} for {inflect(found.epochs, 'epoch')} at most{bound}"),
        ("memory", f"{found.memory / 1e9:.1f} GB at most"),
    )
    title = f"What training takes, by a trial of {inflect(found.trial_updates, 'update')} on this machine"
    return Table(title, ("", ""), rows)
