"""Linear interpolation of probabilities, and the weights under which a text is most probable.

Component k has the weight lambda_k. Where some components make no prediction, the others share their weight:

    p(w) = sum_k lambda_k p_k(w) / S,      S = sum_k lambda_k,      k over the components that predict there

The weights are fitted by expectation-maximisation (Jelinek and Mercer 1980). With r_tk the responsibility of component
k for p(w_t),

    lambda_k  <-  sum_t r_tk / sum_t 1 / S_t       both sums over the positions t where k predicts

and then all are divided by their sum. Where every component always predicts, S_t is 1 and this is the mean of r_tk. No
step makes the text less likely: -ln S_t is bounded from below by its tangent in S_t (Hunter and Lange 2004), and the
right-hand side maximises the bound.
"""

import numpy as np

from anaphora.protocols import Array

STEPS = 200
"""Maximum number of steps of the fit."""

ENOUGH = 1e-7
"""The fit stops after a step that gains less than this many nats a prediction."""


def interpolate(log_probs_KX: Array, known_KX: Array, weights_K: Array) -> Array:
    """ln p of the interpolation, float64.

    ``known_KX`` says which components predict; it may lack trailing dimensions of ``log_probs_KX``.
    """
    shares_KX = _shares(known_KX, weights_K)
    shares_KX = shares_KX.reshape(*shares_KX.shape, *[1] * (log_probs_KX.ndim - shares_KX.ndim))
    return _log_of_sum(shares_KX + log_probs_KX)


def fitted_weights(log_probs_KN: Array, known_KN: Array) -> Array:
    """Return the weights under which N predictions are most probable, starting from equal weights; float64, sum 1."""
    components = len(log_probs_KN)
    weights_K = np.full(components, 1 / components)
    before = -np.inf
    for _ in range(STEPS):
        weights_K, found = step(log_probs_KN, known_KN, weights_K)
        if found - before < ENOUGH * log_probs_KN.shape[1]:
            break
        before = found
    return weights_K


def step(log_probs_KN: Array, known_KN: Array, weights_K: Array) -> tuple[Array, float]:
    """Return the weights after one step of the fit, and ln p of the predictions before it."""
    joint_KN = _shares(known_KN, weights_K) + log_probs_KN
    log_probs_N = _log_of_sum(joint_KN)
    responsible_K = np.exp(joint_KN - log_probs_N).sum(axis=1)
    inverse_N = 1 / (weights_K[:, None] * known_KN).sum(axis=0)
    weights_K = responsible_K / np.maximum((inverse_N * known_KN).sum(axis=1), np.finfo(np.float64).tiny)
    return weights_K / weights_K.sum(), float(log_probs_N.sum())


def _shares(known_KX: Array, weights_K: Array) -> Array:
    """ln of the weight of each component among those that predict."""
    weights_KX = weights_K.reshape(-1, *[1] * (known_KX.ndim - 1)) * known_KX
    with np.errstate(divide="ignore"):
        return np.log(weights_KX / _in_order(weights_KX))


def _log_of_sum(logs_KX: Array) -> Array:
    """ln of the sum of exponentials over the components."""
    top_X = logs_KX.max(axis=0, initial=np.finfo(logs_KX.dtype).min)  # where all are -inf, so is the sum
    with np.errstate(divide="ignore"):
        found: Array = np.log(_in_order(np.exp(logs_KX - top_X))) + top_X
    return found


def _in_order(values_KX: Array) -> Array:
    """The sum over the components, one after the other, so that no position depends on how many others there are."""
    total_X: Array = values_KX[0].copy()
    for value_X in values_KX[1:]:
        total_X += value_X
    return total_X
