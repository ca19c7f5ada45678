"""Logistic regression, fitted by Newton's method: probabilities from a few features."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from anaphora.errors import DataError

Floats = np.ndarray[Any, np.dtype[np.float64]]

_RIDGE = 1.0
"""Strength of the penalty on squared weights, which count standardized features."""
_STEPS = 100


@dataclass(frozen=True)
class Logistic:
    """p = sigmoid(bias + sum of weight * (feature - mean) / scale)."""

    means: list[float]
    scales: list[float]
    weights: list[float]
    bias: float

    @classmethod
    def fit(cls, features_NF: Floats, labels_N: Floats) -> Self:
        """Return the greatest penalized likelihood of labels that are 0 or 1.

        Labels are moved from 0 and 1 as far as two more observations would move their mean (Platt 1999), so that
        probabilities stay between 0 and 1 where all labels are alike. Raises DataError without examples.
        """
        if not len(labels_N):
            raise DataError("A logistic regression needs examples, but there are none: give more data.")
        means_F, scales_F = features_NF.mean(axis=0), features_NF.std(axis=0)
        scales_F = np.where(scales_F > 1e-9, scales_F, 1.0)
        ones_N1 = np.ones((len(labels_N), 1))
        design_NG = np.concatenate([(features_NF - means_F) / scales_F, ones_N1], axis=1)
        positive = labels_N.sum()
        targets_N = np.where(labels_N > 0, (positive + 1) / (positive + 2), 1 / (len(labels_N) - positive + 2))
        ridge_G = np.full(design_NG.shape[1], _RIDGE)
        ridge_G[-1] = 1e-6  # the bias is free
        solution_G = np.zeros(design_NG.shape[1])
        for _ in range(_STEPS):
            p_N = _sigmoid(design_NG @ solution_G)
            gradient_G = design_NG.T @ (p_N - targets_N) + ridge_G * solution_G
            hessian_GG = (design_NG * (p_N * (1 - p_N))[:, None]).T @ design_NG + np.diag(ridge_G)
            step_G = np.linalg.solve(hessian_GG, gradient_G)
            solution_G -= step_G / max(1.0, np.abs(step_G).max())  # no step is so long that it overshoots
            if np.abs(step_G).max() < 1e-9:
                break
        *weights, bias = solution_G.tolist()
        return cls(means_F.tolist(), scales_F.tolist(), weights, bias)

    def probabilities(self, features_NF: Floats) -> Floats:
        """Return the probability of each row; it depends on that row alone."""
        terms_NF = (features_NF - np.array(self.means)) / np.array(self.scales) * np.array(self.weights)
        return _sigmoid(self.bias + terms_NF.sum(axis=1))


def _sigmoid(values_N: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(values_N, -700, 700)))
    return found
