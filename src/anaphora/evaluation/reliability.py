"""How far probabilities can be relied on: whether they tell right from wrong, and whether they are as often right."""

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

BINS = 10
"""Bins of equal width, by which a calibration error is computed."""


def area_under_curve(scores_N: Floats, labels_N: Floats) -> float | None:
    """The probability that an example of label 1 has a higher score than one of label 0, ties counting half.

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
    bins_N = np.minimum((probabilities_N * BINS).astype(int), BINS - 1)
    gaps = np.abs(np.bincount(bins_N, weights=probabilities_N - labels_N, minlength=BINS))
    return float(gaps.sum() / max(1, len(labels_N)))
