"""Plain readings of what searches should find: one sentence, one hypothesis and one token at a time."""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis

Make = Callable[..., Stepper]
"""The fixture ``automaton``."""
MakeBatch = Callable[..., Batch]
"""The fixture ``batch``."""
SOURCES = [[4, 7], [5], [3, 3, 9, 2], [8, 1, 1], [6, 6], [2], [9, 9, 9, 9, 4]]
FEW_SOURCES = SOURCES[:4]

Rank = Callable[[float, int], float]
"""The rank of a score and a number of tokens."""
Allowed = Callable[[tuple[int, ...], int], bool]
"""Whether a token may follow others."""
Finished = tuple[float, float, tuple[int, ...]]
"""Rank, score and tokens of a finished output."""


def written(found: Sequence[Hypothesis], eos: int) -> list[list[int]]:
    """The tokens of outputs, with the ``</s>`` that closes them."""
    return [[*one.ids, eos] if one.finished else list(one.ids) for one in found]


def same(one: Hypothesis, other: Hypothesis) -> bool:
    """Equal to the last bit, attention included."""
    if one.weights is None or other.weights is None:
        return one == other and one.weights is other.weights
    return one == other and np.array_equal(one.weights, other.weights, equal_nan=True)


def plain(score: float, tokens: int) -> float:
    return score


def anything(before: tuple[int, ...], token: int) -> bool:
    return True


def everything(stepper: Stepper, batch: Batch, max_length: int) -> list[tuple[float, tuple[int, ...]]]:
    """Every finished output of one sentence with its score, best first, the earlier finished first."""
    widest = stepper.size**max_length
    return [(score, ids) for _, score, ids in n_best(stepper, batch, widest, widest, max_length)]


def n_best(
    stepper: Stepper, batch: Batch, size: int, n: int, longest: int, rank: Rank = plain, allowed: Allowed = anything
) -> list[Finished]:
    """The ``n`` best of all that a beam of one sentence finishes where nothing stops it before its greatest length."""
    memory, start, _ = stepper.start(batch)
    live, finished = [(0.0, (), start, stepper.bos)], list[Finished]()
    for length in range(1, longest + 1):
        grown = []
        for total, ids, state, last in live:
            log_probs, _, state, *_ = stepper.advance(memory, state, np.array([last]))
            values = enumerate(log_probs[0].tolist())
            grown += [(total + v, (*ids, i), state, i) for i, v in values if v > -inf and allowed(ids, i)]
        top = sorted(grown, key=lambda entry: -entry[0])[:size]
        finished += [(rank(total, length), total, ids[:-1]) for total, ids, _, i in top if i == stepper.eos]
        live = [entry for entry in top if entry[3] != stepper.eos]
    return sorted(finished, key=lambda entry: -entry[0])[:n]
