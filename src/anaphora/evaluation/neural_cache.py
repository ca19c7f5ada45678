"""The neural cache: what followed a state like this one is likely to follow again (Grave, Joulin and Usunier 2017).

A network's states h_i are remembered with the tokens x_(i+1) that followed them, the last N of them. At place t,

    p_c(w) = sum_i [x_(i+1) = w] exp(theta h_t . h_i) / sum_i exp(theta h_t . h_i),      i = t - N .. t - 1
    p(w)   = (1 - lambda) p_network(w) + lambda p_c(w)

(their equations 2 and 5). Nothing is trained for it; theta and lambda suit the validation text unless they are given.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anaphora.evaluation.adaptation import NeuralCache
from anaphora.evaluation.stream import LogProbs, windows
from anaphora.inference.interpolation.weights import fitted_weights, interpolate
from anaphora.protocols import Array, StateModel

THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Values of theta that are tried where none is given."""

WINDOW = 128
"""Places that are looked up at once."""


class CacheLogProbs(NamedTuple):
    """Log-probabilities of N tokens of a text."""

    ids_N: Array
    own_N: Array
    """ln p by the network."""
    cached_KN: Array
    """ln p by the cache, for each theta."""
    known_N: Array
    """True if anything was remembered by then."""


def neural_cache_log_probs(model: StateModel, tokens: Iterable[int], before: int, cache: NeuralCache) -> LogProbs:
    """Yield the tokens of a text and ln p of each, read one by one: as ``stream.stream_log_probs``."""
    theta, weight = cache.resolve()
    weights_K = np.array([1 - weight, weight])
    for found in looked_up(model, tokens, before, cache.tokens, [theta]):
        yield found.ids_N, interpolate(*_both(found.own_N, found.cached_KN[0], found.known_N), weights_K)


def fitted_cache(model: StateModel, tokens: Iterable[int], before: int, cache: NeuralCache) -> NeuralCache:
    """Return the cache with the theta and the weight under which a text is most probable, where they are not given."""
    thetas = list(THETAS) if cache.theta is None else [cache.theta]
    parts = zip(*looked_up(model, tokens, before, cache.tokens, thetas), strict=True)
    _, own_N, cached_KN, known_N = (np.concatenate(some, axis=-1) for some in parts)
    best, chosen = -np.inf, cache
    for theta, cached_N in zip(thetas, cached_KN, strict=True):
        sources = _both(own_N, cached_N, known_N)
        given = cache.weight
        weights_K = fitted_weights(*sources) if given is None else np.array([1 - given, given])
        found = float(interpolate(*sources, weights_K).sum())
        if found > best:
            best, chosen = found, replace(cache, theta=theta, weight=float(weights_K[1]))
    return chosen


def looked_up(
    model: StateModel, tokens: Iterable[int], before: int, size: int, thetas: Sequence[float]
) -> Iterator[CacheLogProbs]:
    """Yield the predictions of network and cache for the tokens of a text; the cache remembers ``size`` tokens."""
    carry, keys_MH, said_M = None, np.empty((0, 0)), np.empty(0, np.int64)
    for window in windows(tokens, before, WINDOW):
        states_BTH, log_probs_BT, carry = model.states_and_target_log_probs(window, carry)
        ids_T, states_TH = window.target_ids.ids_BT[0], states_BTH[0]
        keys_MH = np.concatenate([keys_MH, states_TH]) if len(said_M) else states_TH
        said_M = np.concatenate([said_M, ids_T])
        cached_KT, known_T = _look_up(states_TH, ids_T, keys_MH, said_M, size, thetas)
        yield CacheLogProbs(ids_T, log_probs_BT[0], cached_KT, known_T)
        keys_MH, said_M = keys_MH[-size:], said_M[-size:]


def _look_up(
    states_TH: Array, ids_T: Array, keys_MH: Array, said_M: Array, size: int, thetas: Sequence[float]
) -> tuple[Array, Array]:
    """ln p_c of the last T of the M tokens for each theta, and where anything was remembered."""
    ahead_TM = np.arange(len(said_M) - len(ids_T), len(said_M))[:, np.newaxis] - np.arange(len(said_M))
    remembered_TM = (ahead_TM > 0) & (ahead_TM <= size)
    known_T = np.asarray(remembered_TM.any(axis=1))
    likeness_TM = (states_TH @ keys_MH.T).astype(np.float64)
    # the greatest is taken out first; where nothing is remembered there is none
    greatest_T = np.where(remembered_TM, likeness_TM, -np.inf).max(axis=1)
    likeness_TM = np.where(remembered_TM, likeness_TM - np.where(known_T, greatest_T, 0)[:, np.newaxis], 0)
    right_TM = said_M == ids_T[:, np.newaxis]
    found = []
    for theta in thetas:
        weights_TM = np.exp(theta * likeness_TM) * remembered_TM
        share_T = (weights_TM * right_TM).sum(1) / np.where(known_T, weights_TM.sum(1), 1)
        with np.errstate(divide="ignore"):
            found.append(np.log(share_T))
    return np.stack(found), known_T


def _both(own_N: Array, cached_N: Array, known_N: Array) -> tuple[Array, Array]:
    """Return the network, which always knows something, and the cache."""
    return np.stack([own_N, cached_N]), np.stack([np.ones_like(known_N), known_N])
