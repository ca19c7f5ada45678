"""The scores of tags, of all and of each sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anaphora.evaluation.segments import Floats, SegmentMetric, counts, f1, fraction, macro_f1
from anaphora.evaluation.tags import Matches, TagCounts, by_frequency, most_frequent_shown
from anaphora.run.logs import Metric
from anaphora.wording import counted

_MATCHES = ("predicted", "expected", "right")


@dataclass(frozen=True)
class TagScores:
    """The scores of a text; for people by ``str``."""

    counts: TagCounts
    of_vectors: bool = False
    """True if vectors of sequences were tagged, and not tokens of sentences."""
    sentences: list[TagCounts] = field(default_factory=list, repr=False)
    """The same of every sentence."""

    def add(self, expected: Sequence[str], predicted: Sequence[str], known: Sequence[bool]) -> None:
        """Count one sentence more: see ``TagCounts.add``."""
        self.sentences.append(TagCounts(self.counts.encoding, self.counts.several))
        for counted_in in (self.counts, self.sentences[-1]):
            counted_in.add(expected, predicted, known)

    def segment_metrics(self) -> list[SegmentMetric]:
        """Accuracies and F1 as sums over sentences."""
        rows, names = self.sentences, list(self.counts.by_tag)
        none = Matches()
        by_tag = [[one.by_tag.get(name, none) for one in rows] for name in names]
        labels = [one.labels for one in rows]
        found = [SegmentMetric("accuracy", _column(rows, "right", "tokens"), fraction)]
        if self.counts.unknown:
            unknown = _column(rows, "unknown_right", "unknown")
            found.append(SegmentMetric("accuracy of unknown words", unknown, fraction))
        found.append(SegmentMetric(self._without_error, _column(rows, "sentences_right", "sentences"), fraction))
        if self.counts.encoding or self.counts.several:
            found += [
                SegmentMetric("precision", _column(labels, "right", "predicted"), fraction),
                SegmentMetric("recall", _column(labels, "right", "expected"), fraction),
                SegmentMetric("F1", _column(labels, *_MATCHES), f1),
            ]
        of_tags = np.concatenate([_column(of_one, *_MATCHES) for of_one in by_tag], axis=1)
        return [*found, SegmentMetric("macro-F1", of_tags, macro_f1)]

    def json(self) -> dict[str, Any]:
        counts = self.counts
        return {
            "accuracy": counts.accuracy,
            "accuracy_unknown": counts.unknown_accuracy if counts.unknown else None,
            "sentences_right": counts.sentence_accuracy,
            "f1": counts.labels.f1,
            "precision": counts.labels.precision,
            "recall": counts.labels.recall,
            "macro_f1": counts.macro_f1,
            "spans": counts.encoding or "none",
            "tokens": counts.tokens,
            "unknown": counts.unknown,
            "sentences": counts.sentences,
            "by_tag": {name: one.json() for name, one in by_frequency(counts.by_tag)},
        }

    @property
    def _without_error(self) -> str:
        return f"{'sequences' if self.of_vectors else 'sentences'} without an error"

    def metrics(self) -> tuple[Metric, ...]:
        counts = self.counts
        one, row = ("vector", "sequence") if self.of_vectors else ("token", "sentence")
        how = f"{counted(counts.tokens, one)}, {counted(counts.sentences, row)}"
        found = [Metric("accuracy", counts.accuracy, how)]
        if counts.unknown:
            unknown = counted(counts.unknown, "token")
            found.append(Metric("accuracy of unknown words", counts.unknown_accuracy, unknown))
        found.append(Metric(self._without_error, counts.sentence_accuracy, how))
        if counts.encoding or counts.several:
            of = f"{how}, spans in {counts.encoding.upper()}, strict" if counts.encoding else f"{how}, labels"
            found += [Metric(name, getattr(counts.labels, name.lower()), of) for name in ("precision", "recall", "F1")]
        return (*found, Metric("macro-F1", counts.macro_f1, how))

    def __str__(self) -> str:
        lines = [f"{metric.name} {metric.shown}  ({metric.conditions})" for metric in self.metrics()]
        return "\n".join([*lines, *most_frequent_shown(self.counts.by_tag)])


def _column(rows: Sequence[Any], *names: str) -> Floats:
    """These counts of every row."""
    return counts([getattr(row, name) for row in rows] for name in names)
