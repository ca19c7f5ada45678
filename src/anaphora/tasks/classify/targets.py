"""Labels as numbers, and predictions measured against them, for one class an example or several labels."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from anaphora.evaluation.classification import (
    ClassificationScores,
    SeveralLabelScores,
    best_thresholds,
    classification_scores,
    several_label_scores,
)
from anaphora.models.classifier import ClassesConfig, PooledClassifier

Scores = ClassificationScores | SeveralLabelScores
Targets = np.ndarray[Any, np.dtype[Any]]
"""N int64 classes, or N x C booleans: whether an example has a label."""
Floats = np.ndarray[Any, np.dtype[np.float64]]


def targets_of(classes: ClassesConfig, labels: Iterable[Sequence[str]]) -> Targets:
    """The labels of examples; KeyError for one that is unknown."""
    numbers = {name: number for number, name in enumerate(classes.names)}
    if not classes.several:
        return np.fromiter((numbers[one[0]] for one in labels), np.int64)
    rows = [[numbers[label] for label in one] for one in labels]
    targets_NC = np.zeros((len(rows), len(numbers)), np.bool_)
    for target_C, row in zip(targets_NC, rows, strict=True):
        target_C[row] = True
    return targets_NC


def balanced_weights(classes: ClassesConfig, targets: Targets) -> Floats | None:
    """What the loss of each example counts: the inverse of the frequency of its class, 1 on average; None for 1."""
    if not classes.balanced:
        return None
    counts = np.bincount(targets, minlength=len(classes.names))
    weights: Floats = (len(targets) / (len(counts) * np.maximum(counts, 1)))[targets]
    return weights


def scores_of(model: PooledClassifier, targets: Targets, probabilities_NC: Floats, *, tune: bool = False) -> Scores:
    """The metrics of N predictions; with ``tune``, the model first gets the best thresholds for them."""
    classes = model.config.classes
    if not classes.several:
        return classification_scores(classes.names, targets, probabilities_NC)
    if tune:
        model.set_thresholds(best_thresholds(targets, probabilities_NC))
    return several_label_scores(classes.names, targets, probabilities_NC, model.thresholds)
