"""The scores of tags, of all and of each sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anaphora.evaluation.segments import Floats, Score, SegmentMetric, counts, f1, fraction, macro_f1
from anaphora.evaluation.tags import Matches, TagCounts, by_frequency, format_most_frequent, never_predicted
from anaphora.run.logs import Metric
from anaphora.wording import inflect

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

    def _table(self) -> Iterator[tuple[str, float, str, Floats, Score]]:
        """Yield the name, value and conditions of each metric, its counts in each sentence and their score."""
        total, rows, of_labels = self.counts, self.sentences, [one.labels for one in self.sentences]
        one, row = ("vector", "sequence") if self.of_vectors else ("token", "sentence")
        how = f"{inflect(total.tokens, one)}, {inflect(total.sentences, row)}"
        yield "accuracy", total.accuracy, how, _column(rows, "right", "tokens"), fraction
        if total.unknown:
            unknown = _column(rows, "unknown_right", "unknown")
            how_many = inflect(total.unknown, "token")
            yield "accuracy of unknown words", total.unknown_accuracy, how_many, unknown, fraction
        whole = _column(rows, "sentences_right", "sentences")
        yield f"{row}s without an error", total.sentence_accuracy, how, whole, fraction
        if total.encoding or total.several:
            of = f"{how}, spans in {total.encoding.upper()}, strict" if total.encoding else f"{how}, labels"
            yield "precision", total.labels.precision, of, _column(of_labels, "right", "predicted"), fraction
            yield "recall", total.labels.recall, of, _column(of_labels, "right", "expected"), fraction
            yield "F1", total.labels.f1, of, _column(of_labels, *_MATCHES), f1
        none = Matches()
        by_tag = [_column([one.by_tag.get(name, none) for one in rows], *_MATCHES) for name in total.by_tag]
        yield "macro-F1", total.macro_f1, how, np.concatenate([np.zeros((len(rows), 0)), *by_tag], axis=1), macro_f1

    def segment_metrics(self) -> list[SegmentMetric]:
        """Accuracies and F1 as sums over sentences."""
        return [SegmentMetric(name, counts_SK, score) for name, _, _, counts_SK, score in self._table()]

    def metrics(self) -> tuple[Metric, ...]:
        return tuple(Metric(name, value, how) for name, value, how, _, _ in self._table())

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

    def __str__(self) -> str:
        lines = [f"{metric.name} {metric.shown}  ({metric.conditions})" for metric in self.metrics()]
        by_tag = self.counts.by_tag
        return "\n".join([*lines, *format_most_frequent(by_tag), *never_predicted(by_tag)])


def _column(rows: Sequence[Any], *names: str) -> Floats:
    """These counts of every row."""
    return counts([getattr(row, name) for row in rows] for name in names)
