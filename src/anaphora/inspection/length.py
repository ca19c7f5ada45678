"""Loss and BLEU by the length of what is read, of one system or several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.bleu import Condition, segment_metric
from anaphora.evaluation.breakdown import by_length
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.evaluation.significance import bootstrap, interval
from anaphora.events import silent
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject
from anaphora.tasks.comparison import systems_of
from anaphora.wording import inflect


@dataclass(frozen=True)
class Group:
    """Sentences of like length."""

    name: str
    """"source 0-10 words"."""
    sentences: int
    loss: float
    """Nats a predicted token, ``</s>`` among them; mean over the seeds."""
    tokens: int
    loss_interval: tuple[float, float]
    """Holds ``loss`` in 95 of 100 bootstrap draws of the sentences, which are the same for all seeds."""
    bleu: float | None = None
    """BLEU of 100 of translators, under the conditions that the experiment names; mean over the seeds."""
    bleu_interval: tuple[float, float] | None = None
    """Holds ``bleu`` in 95 of 100 bootstrap draws."""
    deviation: float | None = None
    """Standard deviation of BLEU over several seeds."""

    def __str__(self) -> str:
        line = f"  {self.name:<24} {inflect(self.sentences, 'sentence'):>17}  loss {self.loss:.4f}"
        if self.bleu is None or self.bleu_interval is None:
            return f"{line}  (95%: {self.loss_interval[0]:.4f} to {self.loss_interval[1]:.4f})"
        low, high = self.bleu_interval
        spread = "" if self.deviation is None else f"; ± {self.deviation:.2f} over seeds"
        return f"{line}  BLEU {self.bleu:6.2f}  (95%: {low:.2f} to {high:.2f}{spread})"


@dataclass(frozen=True)
class ByLength(Result):
    """One system on one text: a run, or runs that differ in their seed alone."""

    run: str
    """The first one."""
    groups: tuple[Group, ...]
    seeds: int = 1

    @property
    def name(self) -> str:
        """Name of the system in pictures."""
        return self.run if self.seeds == 1 else f"{self.run} ({self.seeds} seeds)"

    def lines(self) -> list[str]:
        return [self.name, *map(str, self.groups)]


def lacks_lengths(subject: Subject) -> str:
    """Return the reason that a run has no scores by length; empty where it has."""
    return "" if hasattr(subject.predictor, "score_lines_of") else "it gives lines no probability"


def by_lengths(
    subjects: Sequence[Subject], texts: Sequence[str], targets: Sequence[str] | None = None
) -> list[ByLength]:
    """Loss, and of translators BLEU by their own beam, for each group of lengths.

    Runs that differ only in their seed are one system, as in ``tasks.comparison``. ``targets`` are the references of
    translators; language models have none. Raises ConfigError for a run without scores or without what its kind needs,
    DataError for no sentences or unequal counts.
    """
    if not texts:
        raise DataError("Scores by length take a text, but there are no lines: give one that has some.")
    measured = {subject.trained.path: _measure(subject, texts, targets) for subject in subjects}
    return [
        ByLength(
            system.name,
            tuple(_group(*group, [measured[run] for run in system.runs]) for group in by_length(texts).items()),
            len(system.runs),
        )
        for system in systems_of([*measured])
    ]


_Measured = tuple[Sequence[tuple[float, int]], SegmentMetric | None]
"""ln p and the number of predicted tokens of every sentence, and BLEU of translators."""


def _measure(subject: Subject, sources: Sequence[str], targets: Sequence[str] | None) -> _Measured:
    predictor, experiment = subject.predictor, subject.trained.experiment
    subject.demand("has no scores by length", lacks_lengths(subject))
    translates = "target" in subject.trained.tokenizers
    if translates != (targets is not None):
        wants = "a source and its reference" if translates else "one text, without references"
        raise ConfigError(f"Scores by length of {subject.name} take {wants}: give that.")
    if targets is None:
        return [(one.nats, one.tokens) for one in predictor.score_lines_of(sources, subject.name, silent)], None
    outputs = [output.text for output in predictor.translate(sources, protect=())]
    language = getattr(experiment.data, "target", "")
    condition: Condition = getattr(experiment.evaluation, "conditions", "raw")
    metric = segment_metric(outputs, targets, "BLEU", language=language, condition=condition)
    return [(one.score, one.tokens) for one in predictor.score_pairs(sources, targets)], metric


def _group(name: str, numbers: Sequence[int], runs: Sequence[_Measured]) -> Group:
    columns = [[sum(scores[number][which] for scores, _ in runs) for number in numbers] for which in (0, 1)]
    loss = SegmentMetric("loss", counts(([-nats for nats in columns[0]], columns[1])), fraction, "lower")
    tokens = int(sum(columns[1])) // len(runs)
    group = Group(name, len(numbers), loss.value, tokens, interval(bootstrap([loss])))
    metrics = [replace(metric, counts_SK=metric.counts_SK[numbers]) for _, metric in runs if metric]
    if not metrics:
        return group
    values = [metric.value for metric in metrics]
    spread = interval(bootstrap(metrics))
    return replace(group, bleu=mean(values), bleu_interval=spread, deviation=stdev(values) if len(values) > 1 else None)
