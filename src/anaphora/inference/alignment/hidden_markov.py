"""The HMM of word alignments (Vogel, Ney and Tillmann 1996): the source of a target word depends on the one before.

Of a target f_1 .. f_T with sources e_1 .. e_S, a_t the source of f_t, i' the last source before it that was a word:

    1  p(a_t = i     | i') = (1 - p0) ((1 - u) c(i - i') / sum_k c(k - i') + u / S)          a jump
    2  p(a_t = empty | i') = p0, and i' stays what it is                       (Och and Ney 2003, section 2.1.3)
    3  p(f_t | a_t) = t(f_t | e_{a_t})

Before the first word i' = 0. What has to be remembered between two target words is i' alone, so that the chain has
S + 1 states, not the 2 S of the papers: with alpha_t and beta_t over i',

    4  alpha_t(i) = [alpha_{t-1} A](i) t(f_t | e_i) + p0 alpha_{t-1}(i) t(f_t | empty)
    5  beta_{t-1}(i') = sum_i A(i', i) t(f_t | e_i) beta_t(i) + p0 t(f_t | empty) beta_t(i')
    6  gamma_t(i) = [alpha_{t-1} A](i) t(f_t | e_i) beta_t(i),   gamma_t(empty) = p0 t(f_t | empty) alpha_{t-1} beta_t
    7  xi(i', i) = sum_t alpha_{t-1}(i') A(i', i) t(f_t | e_i) beta_t(i)

where A(i', i) is 1. Each alpha_t is divided by its sum, whose logarithms add up to ln p(f | e), each beta_t by its own,
and gamma and xi by the sum of gamma_t.
"""

from typing import NamedTuple

import numpy as np

from anaphora.inference.alignment.groups import Group
from anaphora.inference.alignment.lexicon import Floats

REACH = 50
"""Jumps that are further than this count as this."""


class Posteriors(NamedTuple):
    """Probabilities of the links of a group under a model."""

    posteriors_RTS: Floats
    """p(a_t = i | e, f), the empty word's in the last column; zero on padding."""
    jumps: Floats
    """The expected number of jumps of each width, from -REACH to REACH."""
    log_probs_R: Floats
    """ln p(f | e) of each pair, its length given."""


def hidden_markov(group: Group, probs_RTS: Floats, jumps: Floats, empty: float, even: float) -> Posteriors:
    """The links of a group by the translation probabilities of all its cells and the weights ``jumps`` of all widths.

    ``empty`` is p0, ``even`` is u.
    """
    width = probs_RTS.shape[2] - 1
    steps_US, shares_US = _shares(jumps, width)
    jump_US = (1 - empty) * ((1 - even) * shares_US + even / width)
    words_TRS = np.ascontiguousarray(probs_RTS[:, :, :-1].transpose(1, 0, 2))
    empty_TR1 = empty * probs_RTS[:, :, -1].T[:, :, None]
    alpha_TRU, log_probs_R = _forward(group, words_TRS, empty_TR1, jump_US)
    beta_TRU = _backward(group, words_TRS, empty_TR1, jump_US)

    after_TRS = words_TRS * beta_TRU[1:, :, 1:]
    gamma_TRS = np.empty((*words_TRS.shape[:2], width + 1))
    np.multiply(alpha_TRU[:-1] @ jump_US, after_TRS, out=gamma_TRS[:, :, :-1])  # 6
    gamma_TRS[:, :, -1:] = empty_TR1 * (alpha_TRU[:-1] * beta_TRU[1:]).sum(2, keepdims=True)
    sums_TR1 = gamma_TRS.sum(2, keepdims=True)
    sums_TR1[~group.open_RT.T] = np.inf
    gamma_TRS /= sums_TR1
    after_TRS /= sums_TR1
    xi_US = jump_US * np.tensordot(alpha_TRU[:-1], after_TRS, axes=((0, 1), (0, 1)))  # 7
    widths = np.bincount(steps_US.ravel(), xi_US.ravel(), len(jumps)).astype(np.float64)
    return Posteriors(gamma_TRS.transpose(1, 0, 2), widths, log_probs_R)


def _shares(jumps: Floats, width: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Floats]:
    """Return of jumps from 0 .. S to 1 .. S the places of widths in ``jumps``, and their fractions of those from there.

    Where no jump that is possible was ever seen, as between sentences of one word, all have the same share.
    """
    steps_US = np.clip(np.arange(1, width + 1) - np.arange(width + 1)[:, None], -REACH, REACH) + REACH
    weights_US = jumps[steps_US]
    sums_U1 = weights_US.sum(1, keepdims=True)
    return steps_US, np.divide(weights_US, sums_U1, out=np.full_like(weights_US, 1 / width), where=sums_U1 > 0)


def _forward(group: Group, words_TRS: Floats, empty_TR1: Floats, jump_US: Floats) -> tuple[Floats, Floats]:
    """alpha_0 .. alpha_T, each with sum 1, and ln p of every target."""
    steps, rows, width = words_TRS.shape
    alpha_TRU, log_probs_R = np.zeros((steps + 1, rows, width + 1)), np.zeros(rows)
    alpha_TRU[0, :, 0] = 1
    for t, active in enumerate(group.active_T):
        before_RU, alpha_RU = alpha_TRU[t, :active], alpha_TRU[t + 1, :active]
        np.multiply(before_RU, empty_TR1[t, :active], out=alpha_RU)  # 4
        alpha_RU[:, 1:] += (before_RU @ jump_US) * words_TRS[t, :active]
        sums_R = alpha_RU.sum(1)
        alpha_RU /= sums_R[:, None]
        log_probs_R[:active] += np.log(sums_R)
    return alpha_TRU, log_probs_R


def _backward(group: Group, words_TRS: Floats, empty_TR1: Floats, jump_US: Floats) -> Floats:
    """beta_0 .. beta_T, each with sum 1 but those of the last words, which are 1."""
    steps, rows, width = words_TRS.shape
    beta_TRU = np.ones((steps + 1, rows, width + 1))
    for t, active in reversed(list(enumerate(group.active_T))):
        after_RU, beta_RU = beta_TRU[t + 1, :active], beta_TRU[t, :active]
        np.multiply(after_RU, empty_TR1[t, :active], out=beta_RU)  # 5
        beta_RU += (words_TRS[t, :active] * after_RU[:, 1:]) @ jump_US.T
        beta_RU /= beta_RU.sum(1, keepdims=True)
    return beta_TRU
