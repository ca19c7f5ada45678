"""Loss and BLEU by the length of what is read, of one run or several."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.bleu import segment_metric
from anaphora.evaluation.breakdown import by_length
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.evaluation.significance import bootstrap, interval
from anaphora.events import silent
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject
from anaphora.wording import inflect


@dataclass(frozen=True)
class Group:
    """Sentences of like length."""

    name: str
    """"source 0-10 words"."""
    sentences: int
    loss: float
    """Nats a predicted token, ``</s>`` among them."""
    tokens: int
    bleu: float | None
    """Raw BLEU of 100, of translators."""
    loss_interval: tuple[float, float]
    """Holds the loss of 95 of 100 bootstrap draws of the sentences."""
    bleu_interval: tuple[float, float] | None
    """Holds the BLEU of 95 of 100 bootstrap draws."""


@dataclass(frozen=True)
class ByLength(Result):
    """One run on one text."""

    run: str
    groups: tuple[Group, ...]

    def __str__(self) -> str:
        lines = [
            f"  {group.name:<24} {inflect(group.sentences, 'sentence'):>17}  loss {group.loss:.4f} "
            + "({:.4f} to {:.4f})".format(*group.loss_interval)
            + ("" if group.bleu is None else f"  BLEU {group.bleu:6.2f}")
            + (" ({:.2f} to {:.2f})".format(*group.bleu_interval) if group.bleu_interval else "")
            for group in self.groups
        ]
        return "\n".join([self.run, *lines])


def lacks_lengths(subject: Subject) -> str:
    """Return the reason that a run has no scores by length; empty where it has."""
    return "" if hasattr(subject.predictor, "score_lines_of") else "it gives lines no probability"


def by_lengths(
    subjects: Sequence[Subject], sources: Sequence[str], targets: Sequence[str] | None = None
) -> list[ByLength]:
    """Loss, and of translators BLEU by their own beam, for each group of lengths.

    ``targets`` are the references of translators; language models have none. Raises ConfigError for a run without
    scores or without what its kind needs, DataError for no sentences or unequal counts.
    """
    if not sources:
        raise DataError("Scores by length take a text, but there are no lines: give one that has some.")
    return [_of(subject, sources, targets) for subject in subjects]


def _of(subject: Subject, sources: Sequence[str], targets: Sequence[str] | None) -> ByLength:
    predictor = subject.predictor
    subject.demand("has no scores by length", lacks_lengths(subject))
    translates = "target" in subject.trained.tokenizers
    if translates != (targets is not None):
        wants = "a source and its reference" if translates else "one text, without references"
        raise ConfigError(f"Scores by length of {subject.name} take {wants}: give that.")
    outputs: list[str] = []
    if targets is None:
        scores = [(one.nats, one.tokens) for one in predictor.score_lines_of(sources, subject.name, silent)]
    else:
        scores = [(one.score, one.tokens) for one in predictor.score_pairs(sources, targets)]
        outputs = [output.text for output in predictor.translate(sources, protect=())]
    groups = []
    for name, numbers in by_length(sources).items():
        columns = [-scores[n][0] for n in numbers], [scores[n][1] for n in numbers]
        loss = SegmentMetric("loss", counts(columns), fraction, "lower")
        bleu: tuple[Any, Any] = None, None
        if targets is not None:
            own, references = ([side[n] for n in numbers] for side in (outputs, targets))
            language = getattr(subject.trained.experiment.data, "target", "")
            metric = segment_metric(own, references, "BLEU", language=language)
            bleu = metric.value, interval(bootstrap([metric]))
        values = loss.value, sum(columns[1]), bleu[0], interval(bootstrap([loss])), bleu[1]
        groups.append(Group(name, len(numbers), *values))
    return ByLength(subject.name, tuple(groups))
