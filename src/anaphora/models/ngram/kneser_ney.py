"""Interpolated modified Kneser-Ney smoothing: from counts to probabilities (Chen and Goodman 1998, section 3).

Of every order, with the counts a(.) of ``data.ngrams``, t_k of its n-grams counted k times, and u the context of w:

    1  Y = t_1 / (t_1 + 2 t_2);   D_1 = 1 - 2 Y t_2 / t_1,   D_2 = 2 - 3 Y t_3 / t_2,   D_3+ = 3 - 4 Y t_4 / t_3
    2  gamma(u) = sum_w D_{a(u w)} / sum_w a(u w)
    3  p(w | u) = (a(u w) - D_{a(u w)}) / sum_w a(u w) + gamma(u) p(w | u without its first token)

Below order 1 is the uniform distribution over every id that can be predicted. gamma(u) is also the weight with which a
context backs off for a word that was never seen after it, so the result is a back-off model.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anaphora.data.ngrams import Grams

Floats = np.ndarray[Any, np.dtype[np.float64]]

FALLBACK = (0.5, 1.0, 1.5)
"""The discounts of an order whose counts of counts give none, because the text is too small or too regular."""


class Smoothed(NamedTuple):
    """The probabilities of the n-grams of one order."""

    p: Floats
    """p(last token | the tokens before it), by n-gram."""
    gamma: Floats
    """The weight with which each n-gram, as a context, backs off; 1 where nothing was seen after it."""


def kneser_ney(
    grams: Sequence[Grams], predictable: Floats, fell_back: Callable[[int], None] = lambda order: None
) -> list[Smoothed]:
    """The probabilities of every order; ``predictable`` is the uniform distribution over the ids that can be predicted.

    ``fell_back`` is called with every order that takes the ``FALLBACK`` discounts.
    """
    lower, probabilities, gammas = predictable, [], []
    for order, of_order in enumerate(grams, 1):
        discounts = _discounts(of_order.counts)
        if discounts is None:
            fell_back(order)
            discounts = np.array([0.0, *FALLBACK])
        contexts = len(grams[order - 2].counts) if order > 1 else 1
        taken = discounts[np.minimum(of_order.counts, 3)]
        totals = np.bincount(of_order.contexts, of_order.counts, contexts)
        gamma = np.bincount(of_order.contexts, taken, contexts) / np.maximum(totals, 1)  # 2
        gamma[totals == 0] = 1.0
        kept = (of_order.counts - taken) / np.maximum(totals, 1)[of_order.contexts]
        below = lower if order == 1 else lower[of_order.suffixes]
        lower = kept + gamma[of_order.contexts] * below  # 3
        probabilities.append(lower)
        gammas.append(gamma)
    # the back-off weight of an n-gram is of one order higher; n-grams of the highest order have none
    weights = [*gammas[1:], np.ones(len(grams[-1].counts))]
    return [Smoothed(p, gamma) for p, gamma in zip(probabilities, weights, strict=True)]


def _discounts(counts: Any) -> Floats | None:
    """0, D_1, D_2 and D_3+, or None where the counts do not give all of them."""
    t = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(np.float64)
    if not t.all():
        return None
    y = t[0] / (t[0] + 2 * t[1])  # 1
    discounts = np.array([0.0, 1 - 2 * y * t[1] / t[0], 2 - 3 * y * t[2] / t[1], 3 - 4 * y * t[3] / t[2]])
    return discounts if (discounts >= 0).all() and (discounts <= np.arange(4)).all() and discounts[1] > 0 else None
