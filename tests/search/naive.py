"""A Stepper that is small enough to be searched by hand, and plain readings of what searches should find.

These take one sentence, one hypothesis and one token at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np

from anaphora.batch import Batch
from anaphora.protocols import Array, SearchStart, Step, Stepper
from anaphora.search.hypothesis import Hypothesis

from ..batches import pair_batch

STATES = 997


@dataclass
class Automaton:
    """Its log-probabilities are a random table's row, picked by a hash of the sentence and all that was read."""

    log_probs_QV: Array
    size: int
    attends: bool = True
    bos: int = 0
    eos: int = 1
    unk: int = 2
    normalised: bool = True
    scale: float = 1.0
    """Factor of the attention, which is not normalised."""

    def start(self, batch: Batch) -> SearchStart:
        read = batch.input_ids
        keys_B = (np.where(read.mask_BT, read.ids_BT, 0) + 1).cumprod(axis=1)[:, -1] % STATES
        width_B = np.full_like(keys_B, read.ids_BT.shape[1])
        return SearchStart(np.stack([keys_B, read.lengths_B, width_B], axis=1), keys_B, read.lengths_B)

    def advance(self, memory: Array, state: Array, ids_N: Array) -> Step:
        assert len(ids_N) == len(state) and len(ids_N) % len(memory) == 0
        rows_N = np.arange(len(ids_N)) // (len(ids_N) // len(memory))
        state = (state * 31 + ids_N * 7 + memory[rows_N, 0] + 1) % STATES
        weights_NS = None
        if self.attends:
            places_S = np.arange(int(memory[0, 2]))
            weights_NS = (self.scale * (1.0 + (state[:, None] * (places_S + 3)) % 11)).astype(np.float32)
            weights_NS[places_S >= memory[rows_N, 1:2]] = np.nan
        return Step(self.log_probs_QV[state], weights_NS, state)

    def select(self, state: Array, rows_N: Array) -> Array:
        found: Array = state[rows_N]
        return found

    def keep(self, memory: Array, sentences_B: Array) -> Array:
        found: Array = memory[sentences_B]
        return found


def automaton(size: int = 5, seed: int = 0, sharpness: float = 2.0, grain: float = 0.0, **facts: Any) -> Automaton:
    """Make an Automaton over ``size`` symbols; ``sharpness`` tells how sure it is, ``grain`` makes ties."""
    logits_QV = np.random.default_rng(seed).normal(size=(STATES, size)) * sharpness
    log_probs_QV = logits_QV - np.log(np.exp(logits_QV).sum(axis=1, keepdims=True))
    if grain:
        log_probs_QV = np.floor(log_probs_QV / grain) * grain
    return Automaton(log_probs_QV.astype(np.float32), size, **facts)


batch = partial(pair_batch, multiple=1, value=99)
"""Make a Batch of source rows, perhaps with targets or prefixes; example ids count from 0 unless given."""

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


def n_best(
    stepper: Stepper,
    batch: Batch,
    size: int,
    n: int,
    longest: int,
    rank: Rank = lambda score, tokens: score,
    allowed: Allowed = lambda before, token: True,
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
