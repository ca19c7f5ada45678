"""Metrics of a classifier, of one label or several: accuracy, F1, confusion, calibration, thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from anaphora.evaluation.segments import Floats, SegmentMetric, counts, f1, fraction, macro_f1
from anaphora.evaluation.tags import Matches, format_most_frequent, mean_f1, never_predicted, total
from anaphora.formats.json_text import attributes
from anaphora.wording import inflect

Integers = np.ndarray[Any, np.dtype[np.int64]]
BINS = 10
"""Bins of equal width, by which a calibration error is computed."""


class Bin(NamedTuple):
    """Predictions of similar confidence."""

    confidence: float
    """Mean probability of the predicted class."""
    accuracy: float
    """Fraction of right predictions; equal to the confidence where that is calibrated."""
    examples: int


@dataclass(frozen=True)
class ClassificationScores:
    """The metrics of one text collection."""

    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Rows are the true classes, columns the predicted ones."""
    loss: float
    """Mean negative log-likelihood of the true class in nats."""
    calibration_error: float
    """Expected calibration error over ten bins of confidence (Guo et al. 2017)."""
    reliability: tuple[Bin, ...]
    """The bins of confidence that are not empty, from the lowest."""
    predictions: tuple[Integers, Integers, Floats, Floats] = field(compare=False, repr=False)
    """True and predicted class of every example, probability of the predicted one and -ln p of the true one."""

    @property
    def count(self) -> int:
        return sum(map(sum, self.confusion))

    @property
    def accuracy(self) -> float:
        """Fraction of examples whose most probable class is the true one."""
        return sum(self.confusion[c][c] for c in range(len(self.labels))) / self.count

    @property
    def micro_f1(self) -> float:
        """F1 of all classes together, which is the accuracy where an example has one class."""
        return self.accuracy

    @property
    def by_label(self) -> dict[str, Matches]:
        """The predictions, examples and right predictions of each class."""
        columns = enumerate(zip(self.labels, zip(*self.confusion, strict=True), strict=True))
        return {label: Matches(sum(column), sum(self.confusion[c]), column[c]) for c, (label, column) in columns}

    @property
    def macro_f1(self) -> float:
        """Mean F1 of the classes that are true or predicted somewhere."""
        return mean_f1(self.by_label.values())

    def segment_metrics(self) -> list[SegmentMetric]:
        """Accuracy, macro-F1, loss and calibration error as sums over examples."""
        true_N, predicted_N, confidence_N, nats_N = self.predictions
        right_N, ones_N = true_N == predicted_N, np.ones(len(true_N))
        columns = []
        for c in range(len(self.labels)):
            columns += [predicted_N == c, true_N == c, right_N & (true_N == c)]
        gap_NB = np.zeros((len(true_N), BINS))
        gap_NB[np.arange(len(true_N)), _bins(confidence_N)] = right_N - confidence_N
        return [
            SegmentMetric("accuracy", counts((right_N, ones_N)), fraction),
            SegmentMetric("macro-F1", counts(columns), macro_f1),
            SegmentMetric("loss", counts((nats_N, ones_N)), fraction, "lower"),
            SegmentMetric("calibration error", np.column_stack([gap_NB, ones_N]), _calibration_error, "lower"),
        ]

    def json(self) -> dict[str, Any]:
        return attributes(self, "accuracy", "macro_f1", "loss", "calibration_error") | {
            "reliability": [one._asdict() for one in self.reliability],
            "count": self.count,
            "labels": list(self.labels),
            "f1": {label: one.f1 for label, one in self.by_label.items()},
            "confusion": [list(row) for row in self.confusion],
        }

    def __str__(self) -> str:
        """Write for people the metrics, and the confusion table where it is small."""
        head = (
            f"accuracy {100 * self.accuracy:.2f}%, macro-F1 {100 * self.macro_f1:.2f}%, loss {self.loss:.4f}, "
            f"calibration error {100 * self.calibration_error:.2f}% ({inflect(self.count, 'example')})"
        )
        missed = never_predicted(self.by_label)
        if len(self.labels) > 12:
            return "\n".join([head, *missed])
        width = max(len(str(cell)) for cell in (*self.labels, *sum(self.confusion, ())))
        rows = [("", self.labels), *zip(self.labels, self.confusion, strict=True)]
        table = ["  ".join(str(cell).rjust(width) for cell in (name, *cells)) for name, cells in rows]
        return "\n".join((head, "true class by row, predicted class by column:", *table, *missed))


def _bins(confidence_N: Floats) -> Integers:
    """Return the bin of confidence of each prediction."""
    return np.minimum((confidence_N * BINS).astype(np.int64), BINS - 1)


def _calibration_error(sums_NK: Floats) -> Floats:
    """Return the error by sums of right minus confidence by bin, and the number of examples."""
    error: Floats = np.abs(sums_NK[:, :-1]).sum(1) / sums_NK[:, -1]
    return error


def classification_scores(
    labels: Sequence[str], classes: Sequence[int] | Integers, probabilities_NC: Floats
) -> ClassificationScores:
    """Return the metrics of N >= 1 predictions whose true classes are ``classes``."""
    true_N = np.asarray(classes)
    predicted_N, confidence_N = probabilities_NC.argmax(1), probabilities_NC.max(1)
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (true_N, predicted_N), 1)
    nats_N = -np.log(np.maximum(probabilities_NC[np.arange(len(true_N)), true_N], 1e-300))
    bin_N = _bins(confidence_N)
    right_N = predicted_N == true_N
    bins = tuple(
        Bin(float(confidence_N[inside_N].mean()), float(right_N[inside_N].mean()), int(inside_N.sum()))
        for inside_N in (bin_N == number for number in range(BINS))
        if inside_N.any()
    )
    gap = sum(abs(one.accuracy - one.confidence) * one.examples for one in bins) / len(true_N)
    predictions = true_N, predicted_N, confidence_N, nats_N
    table = tuple(tuple(int(cell) for cell in row) for row in confusion)
    return ClassificationScores(tuple(labels), table, float(nats_N.mean()), gap, bins, predictions)


def area_under_curve(scores_N: Floats, labels_N: Floats) -> float | None:
    """Return the probability that an example of label 1 has a higher score than one of label 0, ties counting half.

    It is the area under the ROC curve (Hanley and McNeil 1982); None where all labels are alike.
    """
    positive = int(labels_N.sum())
    negative = len(labels_N) - positive
    if not positive or not negative:
        return None
    _, inverse_N, counts = np.unique(scores_N, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    own = ranks[inverse_N][labels_N > 0].sum()
    return float((own - positive * (positive + 1) / 2) / (positive * negative))


def calibration_error(probabilities_N: Floats, labels_N: Floats) -> float:
    """Expected calibration error (Guo et al. 2017); 0 without examples.

    In bins of equal width, how far the mean probability is from the frequency of label 1, averaged over examples.
    """
    bins_N = _bins(probabilities_N)
    gaps = np.abs(np.bincount(bins_N, weights=probabilities_N - labels_N, minlength=BINS))
    return float(gaps.sum() / max(1, len(labels_N)))


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
    """Counts of every example: predicted, expected and right of each label, and the loss with whether all is right."""

    @property
    def micro_f1(self) -> float:
        """F1 of all labels of all examples together."""
        return total(self.by_label.values()).f1

    @property
    def macro_f1(self) -> float:
        """Mean F1 of the labels that are expected or predicted somewhere."""
        return mean_f1(self.by_label.values())

    def segment_metrics(self) -> list[SegmentMetric]:
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
        by_label = {label: one.json() for label, one in self.by_label.items()}
        return attributes(self, "micro_f1", "macro_f1", "accuracy", "loss", "count") | {"by_label": by_label}

    def __str__(self) -> str:
        """Write for people the metrics, and those of the most frequent labels."""
        head = (
            f"micro-F1 {100 * self.micro_f1:.2f}%, macro-F1 {100 * self.macro_f1:.2f}%, exact matches "
            f"{100 * self.accuracy:.2f}%, loss {self.loss:.4f} ({inflect(self.count, 'example')})"
        )
        return "\n".join([head, *format_most_frequent(self.by_label), *never_predicted(self.by_label)])


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
    """Return each label's threshold with the largest F1, between two probabilities, or below the least of them.

    0.5 for a label that no example has.
    """
    return np.array([_best(true_N, found_N) for true_N, found_N in zip(true_NC.T, probabilities_NC.T, strict=True)])


def _best(true_N: Bools, probabilities_N: Floats) -> float:
    if not true_N.any():
        return 0.5
    order = np.argsort(-probabilities_N, kind="stable")
    sorted_N, next_N = probabilities_N[order], np.append(probabilities_N[order][1:], -1.0)
    f1_N = 2 * np.cumsum(true_N[order]) / (np.arange(1, len(order) + 1) + true_N.sum())
    last = int(np.where(sorted_N > next_N, f1_N, -1.0).argmax())  # equal probabilities are on the same side
    return float(sorted_N[last] + max(next_N[last], 0.0)) / 2
