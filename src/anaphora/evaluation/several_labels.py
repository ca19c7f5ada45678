"""Precision, recall and F1 of examples with any number of labels, and the thresholds that make F1 largest."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anaphora.evaluation.segments import Floats, SegmentMetric, counts, f1, fraction, macro_f1
from anaphora.evaluation.tags import Matches, most_frequent_shown
from anaphora.wording import counted

Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class SeveralLabelScores:
    """The metrics of one collection."""

    by_label: dict[str, Matches]
    loss: float
    """Mean negative log-likelihood of all labels of an example in nats."""
    accuracy: float
    """Fraction of examples whose labels are all right and complete."""
    count: int
    """Number of examples."""
    counts: tuple[Floats, Floats] = field(compare=False, repr=False)
    """Of every example: predicted, expected and right of each label in turn, and the loss with whether all is right."""

    @property
    def micro_f1(self) -> float:
        """F1 of all labels of all examples together."""
        every = self.by_label.values()
        return Matches(*(sum(getattr(one, name) for one in every) for name in ("predicted", "expected", "right"))).f1

    @property
    def macro_f1(self) -> float:
        """Mean F1 of the labels that are expected or predicted somewhere."""
        seen = [one.f1 for one in self.by_label.values() if one.expected or one.predicted]
        return sum(seen) / len(seen) if seen else 0.0

    def metrics(self) -> list[SegmentMetric]:
        """Micro-F1, macro-F1, exact matches and loss as sums over examples."""
        matches_NK, (nats_N, exact_N) = self.counts[0], self.counts[1].T
        ones_N = np.ones(self.count)
        all_labels_N3 = matches_NK.reshape(self.count, -1, 3).sum(1)
        return [
            SegmentMetric("micro-F1", all_labels_N3, f1),
            SegmentMetric("macro-F1", matches_NK, macro_f1),
            SegmentMetric("exact matches", counts((exact_N, ones_N)), fraction),
            SegmentMetric("loss", counts((nats_N, ones_N)), fraction, "lower"),
        ]

    def json(self) -> dict[str, Any]:
        return {
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "accuracy": self.accuracy,
            "loss": self.loss,
            "count": self.count,
            "by_label": {label: one.json() for label, one in self.by_label.items()},
        }

    def __str__(self) -> str:
        """For people: the metrics, and those of the most frequent labels."""
        head = (
            f"micro-F1 {100 * self.micro_f1:.2f}%, macro-F1 {100 * self.macro_f1:.2f}%, exact matches "
            f"{100 * self.accuracy:.2f}%, loss {self.loss:.4f} ({counted(self.count, 'example')})"
        )
        return "\n".join([head, *most_frequent_shown(self.by_label)])


def several_label_scores(
    labels: Sequence[str], true_NC: Bools, probabilities_NC: Floats, thresholds_C: Floats
) -> SeveralLabelScores:
    """Return the metrics of N >= 1 predictions: a label is predicted where its probability reaches its threshold."""
    predicted_NC = probabilities_NC >= thresholds_C
    right_C = (true_NC & predicted_NC).sum(0)
    matches = {
        label: Matches(int(predicted), int(expected), int(right))
        for label, predicted, expected, right in zip(labels, predicted_NC.sum(0), true_NC.sum(0), right_C, strict=True)
    }
    nats_NC = -np.log(np.maximum(np.where(true_NC, probabilities_NC, 1 - probabilities_NC), 1e-300))
    exact_N, nats_N = (true_NC == predicted_NC).all(1), nats_NC.sum(1)
    matches_NC3 = np.stack([predicted_NC, true_NC, true_NC & predicted_NC], axis=2)
    rows = matches_NC3.reshape(len(true_NC), -1).astype(np.float64), counts((nats_N, exact_N))
    return SeveralLabelScores(matches, float(nats_N.mean()), float(exact_N.mean()), len(true_NC), rows)


def best_thresholds(true_NC: Bools, probabilities_NC: Floats) -> Floats:
    """For each label the threshold with the largest F1, between two probabilities; 0.5 for one that no example has."""
    return np.array([_best(true_N, found_N) for true_N, found_N in zip(true_NC.T, probabilities_NC.T, strict=True)])


def _best(true_N: Bools, probabilities_N: Floats) -> float:
    if not true_N.any():
        return 0.5
    order = np.argsort(-probabilities_N, kind="stable")
    sorted_N, next_N = probabilities_N[order], np.append(probabilities_N[order][1:], 0.0)
    f1_N = 2 * np.cumsum(true_N[order]) / (np.arange(1, len(order) + 1) + true_N.sum())
    last = int(np.where(sorted_N > next_N, f1_N, -1.0).argmax())  # equal probabilities are on the same side
    return float(sorted_N[last] + next_N[last]) / 2
