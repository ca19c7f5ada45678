"""Interpolated modified Kneser-Ney smoothing: from counts to probabilities (Chen and Goodman 1998, section 3).

Of every order, with the counts a(.) of ``data.ngrams``, t_k of its n-grams counted k times, and u the context of w:

    1  Y = t_1 / (t_1 + 2 t_2);   D_1 = 1 - 2 Y t_2 / t_1,   D_2 = 2 - 3 Y t_3 / t_2,   D_3+ = 3 - 4 Y t_4 / t_3
    2  gamma(u) = sum_w D_{a(u w)} / sum_w a(u w)
    3  p(w | u) = (a(u w) - D_{a(u w)}) / sum_w a(u w) + gamma(u) p(w | u without its first token)

Below order 1 is the uniform distribution over every id that can be predicted. gamma(u) is also the weight with which a
context backs off for a word that was never seen after it, so the result is a back-off model.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anaphora.data.ngrams import BLOCK, Grams
from anaphora.data.scratch import Growing

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]

FALLBACK = (0.5, 1.0, 1.5)
"""The discounts of an order whose counts of counts give none, because the text is too small or too regular."""

NEVER = 1e-99
"""Probability of special tokens that no text has, as ARPA files write it: 0 has no logarithm."""


class SmoothedProbabilities(NamedTuple):
    """The probabilities of the n-grams of one order, in single precision."""

    log_probs: Floats
    """ln p(last token | the tokens before it), by n-gram."""
    log_gammas: Floats
    """ln of the weight with which each n-gram, as a context, backs off; 0 where nothing was seen after it."""


def kneser_ney(
    grams: Sequence[Grams],
    predictable: Floats,
    fell_back: Callable[[int], None] = lambda order: None,
    *,
    block: int = BLOCK,
    folder: Path | None = None,
) -> list[SmoothedProbabilities]:
    """Return the probabilities of every order.

    ``predictable`` is the uniform distribution over the ids that can be predicted.

    ``fell_back`` is called with every order that takes the ``FALLBACK`` discounts. The n-grams of an order are worked
    on in parts of about ``block``; ``folder`` takes what does not fit in memory. Raises OSError when its disk is full.
    """
    size, lower, smoothed = len(predictable), predictable, list[list[Floats]]()
    for order, of_order in enumerate(grams, 1):
        discounts = _discounts(of_order.counts, block)
        if discounts is None:
            fell_back(order)
            discounts = np.array([0.0, *FALLBACK])
        probabilities = Growing(np.float64, block, folder)
        log_probs, log_gammas = Growing(np.float32, block, folder), Growing(np.float32, block, folder)
        contexts = len(grams[order - 2].keys) if order > 1 else 1
        for rows, first, last in _parts(of_order.keys, size, contexts, block):
            context, counts = of_order.keys[rows] // size - first, of_order.counts[rows]
            taken = discounts[np.minimum(counts, 3)]
            totals = np.bincount(context, counts, last - first)
            gamma = np.bincount(context, taken, last - first) / np.maximum(totals, 1)  # 2
            gamma[totals == 0] = 1.0
            kept = (counts - taken) / np.maximum(totals, 1)[context]
            below = lower[rows] if order == 1 else lower[of_order.suffixes[rows]]
            p = kept + gamma[context] * below  # 3
            log_gammas.append(np.log(np.maximum(gamma, NEVER)))
            log_probs.append(np.log(np.maximum(p, NEVER)))
            if order < len(grams):
                probabilities.append(p)
        lower = probabilities.whole()
        if smoothed:
            smoothed[-1].append(log_gammas.whole())  # as contexts, n-grams of the order below
        smoothed.append([log_probs.whole()])
    smoothed[-1].append(np.zeros(len(grams[-1].keys), dtype=np.float32))  # the highest order has no back-off weights
    return [SmoothedProbabilities(*of_order) for of_order in smoothed]


def _parts(keys: Any, size: int, contexts: int, block: int) -> Iterator[tuple[slice, int, int]]:
    """Sorted n-grams in parts of about ``block`` with all of a context together, and the contexts of each part."""
    begin = first = 0
    while first < contexts:
        finish, last = len(keys), contexts
        if begin + block < len(keys):
            last = int(keys[begin + block - 1]) // size + 1
            finish = int(np.searchsorted(keys, last * size))
        yield slice(begin, finish), first, last
        begin, first = finish, last


def _discounts(counts: Any, block: int) -> Floats | None:
    """0, D_1, D_2 and D_3+, or None where the counts do not give all of them."""
    t = np.zeros(4)
    for begin in range(0, len(counts), block):
        t += np.bincount(np.minimum(counts[begin : begin + block], 5), minlength=6)[1:5]
    if not t.all():
        return None
    y = t[0] / (t[0] + 2 * t[1])  # 1
    discounts = np.array([0.0, 1 - 2 * y * t[1] / t[0], 2 - 3 * y * t[2] / t[1], 3 - 4 * y * t[3] / t[2]])
    return discounts if (discounts >= 0).all() and (discounts <= np.arange(4)).all() and discounts[1] > 0 else None
