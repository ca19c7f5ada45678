"""Probabilities of several sources mixed linearly, and the weights that suit a text best.

Source k has the weight lambda_k. Where some of them know nothing, the others share their weight:

    p(w) = sum_k lambda_k p_k(w) / S,      S = sum_k lambda_k,      k over the sources that know something there

The weights are fitted by expectation-maximisation (Jelinek and Mercer 1980). With r_tk the share of source k in p(w_t),

    lambda_k  <-  sum_t r_tk / sum_t 1 / S_t       both sums over the places t where k knows something

and then all are divided by their sum. Where every source always knows something, S_t is 1 and this is the mean of r_tk.
No step makes the text less likely: -ln S_t is bounded from below by its tangent in S_t (Hunter and Lange 2004), and the
right-hand side is the greatest place of the bound.
"""

import torch
from torch import Tensor

STEPS = 200
"""Steps of the fit, at most."""

ENOUGH = 1e-7
"""A step that gains less than this many nats a prediction is the last."""


def mixed(log_probs_KX: Tensor, known_KX: Tensor, weights_K: Tensor) -> Tensor:
    """ln p of the mixture; ``known_KX`` may have fewer dimensions than ``log_probs_KX``, the last ones."""
    shares_KX = _shares(known_KX, weights_K)
    shares_KX = shares_KX.view(*shares_KX.shape, *[1] * (log_probs_KX.dim() - shares_KX.dim()))
    return _log_of_sum(shares_KX + log_probs_KX.double())


def fitted(log_probs_KN: Tensor, known_KN: Tensor) -> Tensor:
    """The weights under which N predictions are likeliest, from equal ones on; float64, sum 1."""
    sources = len(log_probs_KN)
    weights_K = torch.full((sources,), 1 / sources, dtype=torch.float64)
    before = -torch.inf
    for _ in range(STEPS):
        weights_K, found = step(log_probs_KN, known_KN, weights_K)
        if found - before < ENOUGH * log_probs_KN.shape[1]:
            break
        before = found
    return weights_K


def step(log_probs_KN: Tensor, known_KN: Tensor, weights_K: Tensor) -> tuple[Tensor, float]:
    """The weights after one step of the fit, and ln p of the predictions before it."""
    joint_KN = _shares(known_KN, weights_K) + log_probs_KN.double()
    log_probs_N = _log_of_sum(joint_KN)
    responsible_K = (joint_KN - log_probs_N).exp().sum(dim=1)
    inverse_N = 1 / (weights_K.unsqueeze(1) * known_KN).sum(dim=0)
    weights_K = responsible_K / (inverse_N * known_KN).sum(dim=1).clamp(min=torch.finfo(torch.float64).tiny)
    return weights_K / weights_K.sum(), float(log_probs_N.sum())


def _shares(known_KX: Tensor, weights_K: Tensor) -> Tensor:
    """ln of the weight of each source among those that know something."""
    weights_KX = weights_K.double().view(-1, *[1] * (known_KX.dim() - 1)) * known_KX
    return (weights_KX / _in_order(weights_KX)).log()


def _log_of_sum(logs_KX: Tensor) -> Tensor:
    """ln of the sum of exponentials over the sources."""
    top_X = logs_KX.amax(dim=0).clamp(min=torch.finfo(logs_KX.dtype).min)  # where all are -inf, so is the sum
    return _in_order((logs_KX - top_X).exp_()).log_().add_(top_X)


def _in_order(values_KX: Tensor) -> Tensor:
    """The sum over the sources, one after the other: so no place depends on how many stand beside it."""
    total_X = values_KX[0].clone()
    for value_X in values_KX[1:]:
        total_X += value_X
    return total_X
