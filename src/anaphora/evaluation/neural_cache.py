"""The neural cache: what followed a state like this one is likely to follow again (Grave, Joulin and Usunier 2017).

A network's states h_i are remembered with the tokens x_(i+1) that followed them, the last N of them. At place t,

    p_c(w) = sum_i [x_(i+1) = w] exp(theta h_t . h_i) / sum_i exp(theta h_t . h_i),      i = t - N .. t - 1
    p(w)   = (1 - lambda) p_network(w) + lambda p_c(w)

(their equations 2 and 5). Nothing is trained for it; theta and lambda suit the validation text unless they are given.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.evaluation.stream import LogProbs, windows
from anaphora.models.interpolation.weights import fitted_weights, interpolate
from anaphora.nn.device import device_of
from anaphora.protocols import StateModel
from anaphora.wording import inflect

THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Values of theta that are tried where none is given."""

WINDOW = 128
"""Places that are looked up at once."""


class NeuralCache(Config):
    """States of the network are remembered with what followed them."""

    tokens: int = Field(2000, ge=1, le=2**31 - 1)
    """N: number of previous tokens in the cache."""
    theta: float | None = Field(None, ge=0)
    """Weight of similarity; fitted to the validation split if left out."""
    weight: float | None = Field(None, ge=0, lt=1)
    """lambda: weight of the cache; fitted to the validation split if left out."""

    def resolve(self) -> tuple[float, float]:
        """theta and lambda of a cache that leaves neither open."""
        assert self.theta is not None and self.weight is not None
        return self.theta, self.weight

    def __str__(self) -> str:
        theta, weight = self.resolve()
        return f"neural cache of {inflect(self.tokens, 'token')}, theta {theta:g}, weight {weight:.4f}"


class CacheLogProbs(NamedTuple):
    """Log-probabilities of N tokens of a text."""

    ids_N: Tensor
    own_N: Tensor
    """ln p by the network."""
    cached_KN: Tensor
    """ln p by the cache, for each theta."""
    known_N: Tensor
    """True if anything was remembered by then."""


def neural_cache_log_probs(model: StateModel, tokens: Iterable[int], before: int, cache: NeuralCache) -> LogProbs:
    """Yield the tokens of a text and ln p of each, read one by one: as ``stream.stream_log_probs``."""
    theta, weight = cache.resolve()
    weights_K = torch.tensor([1 - weight, weight], dtype=torch.float64)
    for found in looked_up(model, tokens, before, cache.tokens, [theta]):
        yield found.ids_N, interpolate(*_both(found.own_N, found.cached_KN[0], found.known_N), weights_K)


def fitted_cache(model: StateModel, tokens: Iterable[int], before: int, cache: NeuralCache) -> NeuralCache:
    """Return the cache with the theta and the weight under which a text is most probable, where they are not given."""
    thetas = list(THETAS) if cache.theta is None else [cache.theta]
    parts = zip(*looked_up(model, tokens, before, cache.tokens, thetas), strict=True)
    _, own_N, cached_KN, known_N = (torch.cat(some, dim=-1) for some in parts)
    best, chosen = -torch.inf, cache
    for theta, cached_N in zip(thetas, cached_KN, strict=True):
        sources = _both(own_N, cached_N, known_N)
        given = cache.weight
        weights_K = fitted_weights(*sources) if given is None else torch.tensor([1 - given, given], dtype=torch.float64)
        found = float(interpolate(*sources, weights_K).sum())
        if found > best:
            best, chosen = found, cache.model_copy(update={"theta": theta, "weight": float(weights_K[1])})
    return chosen


def looked_up(
    model: StateModel, tokens: Iterable[int], before: int, size: int, thetas: Sequence[float]
) -> Iterator[CacheLogProbs]:
    """Yield the predictions of network and cache for the tokens of a text; the cache remembers ``size`` tokens."""
    device = device_of(model)
    carry, keys_MH, said_M = None, torch.empty(0, 0), torch.empty(0, dtype=torch.int64)
    for window in windows(tokens, before, WINDOW):
        with torch.no_grad():
            states_BTH, log_probs_BT, carry = model.states_and_target_log_probs(window.to(device), carry)
        ids_T, states_TH = window.target_ids.ids_BT[0], states_BTH[0].cpu()
        keys_MH = torch.cat([keys_MH, states_TH]) if len(said_M) else states_TH
        said_M = torch.cat([said_M, ids_T])
        cached_KT, known_T = _look_up(states_TH, ids_T, keys_MH, said_M, size, thetas)
        yield CacheLogProbs(ids_T, log_probs_BT[0].cpu(), cached_KT, known_T)
        keys_MH, said_M = keys_MH[-size:], said_M[-size:]


def _look_up(
    states_TH: Tensor, ids_T: Tensor, keys_MH: Tensor, said_M: Tensor, size: int, thetas: Sequence[float]
) -> tuple[Tensor, Tensor]:
    """ln p_c of the last T of the M tokens for each theta, and where anything was remembered."""
    ahead_TM = torch.arange(len(said_M) - len(ids_T), len(said_M)).unsqueeze(1) - torch.arange(len(said_M))
    remembered_TM = (ahead_TM > 0) & (ahead_TM <= size)
    known_T = remembered_TM.any(dim=1)
    likeness_TM = (states_TH @ keys_MH.T).double().masked_fill(~remembered_TM, -torch.inf)
    # the greatest is taken out first; where nothing is remembered there is none
    likeness_TM = likeness_TM - likeness_TM.amax(dim=1, keepdim=True).where(known_T.unsqueeze(1), 0)
    likeness_TM = likeness_TM.where(remembered_TM, 0)
    right_TM = said_M == ids_T.unsqueeze(1)
    found = []
    for theta in thetas:
        weights_TM = (theta * likeness_TM).exp() * remembered_TM
        found.append(((weights_TM * right_TM).sum(1) / weights_TM.sum(1).where(known_T, 1)).log())
    return torch.stack(found), known_T


def _both(own_N: Tensor, cached_N: Tensor, known_N: Tensor) -> tuple[Tensor, Tensor]:
    """Return the network, which always knows something, and the cache."""
    return torch.stack([own_N, cached_N]), torch.stack([torch.ones_like(known_N), known_N])
