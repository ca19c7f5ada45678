"""Adaptation of a language model to the text that it has predicted so far, beside carrying its state.

The neural cache: what followed a state like this one is likely to follow again (Grave, Joulin and Usunier 2017). A
network's states h_i are remembered with the tokens x_(i+1) that followed them, the last N of them. At place t,

    p_c(w) = sum_i [x_(i+1) = w] exp(theta h_t . h_i) / sum_i exp(theta h_t . h_i),      i = t - N .. t - 1
    p(w)   = (1 - lambda) p_network(w) + lambda p_c(w)

(their equations 2 and 5). Nothing is trained for it; theta and lambda suit the validation text unless they are given.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, cast

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from anaphora.errors import ConfigError, MissingExtraError
from anaphora.evaluation.stream import LogProbs, stream_log_probs, windows
from anaphora.inference.interpolation.weights import fitted_weights, interpolate
from anaphora.options import MAX_LENGTH, SET, Conflict
from anaphora.protocols import Array, StateModel, TextModel
from anaphora.records import Record
from anaphora.wording import inflect

if TYPE_CHECKING:
    from torch import Tensor


class Static(Record):
    """Nothing."""

    def __str__(self) -> str:
        return ""


class NeuralCache(Record, extra="forbid"):
    """States of the network are remembered with what followed them."""

    tokens: Annotated[int, Ge(1), Le(2**31 - 1)] = 2000
    """N: number of previous tokens in the cache."""
    theta: Annotated[float, Ge(0)] | None = None
    """Weight of similarity; fitted to the validation split if left out."""
    weight: Annotated[float, Ge(0), Lt(1)] | None = None
    """lambda: weight of the cache; fitted to the validation split if left out."""

    def resolve(self) -> tuple[float, float]:
        """theta and lambda of a cache that leaves neither open."""
        assert self.theta is not None and self.weight is not None
        return self.theta, self.weight

    def __str__(self) -> str:
        theta, weight = self.resolve()
        return f"neural cache of {inflect(self.tokens, 'token')}, theta {theta:g}, weight {weight:.4f}"


class Dynamic(Record, extra="forbid"):
    """The network continues to learn from the text."""

    rule: Literal["sgd", "rms"] = "sgd"
    """One learning rate for all weights, or a scale for every weight, measured on the training split."""
    learning_rate: Annotated[float, Ge(0), Le(1e6)] = 0.0
    """Learning rate; 0 selects the best of several on the validation split."""
    steps: Annotated[int, Ge(1), Le(MAX_LENGTH)] = 20
    """Predictions of a segment."""
    decay: Annotated[float, Ge(0), Le(1)] = 0.0
    """Fraction by which weights return to the trained ones after each segment."""
    epsilon: Annotated[float, Gt(0)] = 0.3
    """Of the rule "rms": what is added to a weight's scale, in units of the mean scale."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"epsilon": SET, "rule": "sgd"}, 'leave it out, or set {at}rule = "rms"'),
    )

    def __str__(self) -> str:
        back = f", decay {self.decay:g}" if self.decay else ""
        scaled = f", scaled by gradients in training, epsilon {self.epsilon:g}" if self.rule == "rms" else ""
        return f"dynamic evaluation by {inflect(self.steps, 'prediction')}, rate {self.learning_rate:g}{back}{scaled}"


@dataclass(frozen=True)
class RmsEvaluation:
    """Dynamic evaluation by the rule "rms", with what it needs to know of the training text."""

    dynamic: Dynamic
    """The options."""
    sizes: "tuple[Tensor, ...]"
    """See ``dynamic.gradient_sizes``."""

    def __str__(self) -> str:
        return str(self.dynamic)


Adaptation = Static | NeuralCache | Dynamic | RmsEvaluation


def adapted_log_probs(model: TextModel, tokens: Iterable[int], before: int, adaptation: Adaptation) -> LogProbs:
    """Return the tokens of a text and ln p of each, some at a time; ``before`` stands in front of them.

    Raises ConfigError for a model that cannot adapt so, and for an adaptation that leaves something to be found.
    """
    if isinstance(adaptation, Static):
        return stream_log_probs(model, tokens, before)
    network = network_of(model, adaptation)
    if not is_fitted(adaptation):
        raise ConfigError(
            "A neural cache without theta and weight, a rate of 0 and the rule 'rms' need numbers that are not known "
            "yet: find them first with LanguageModelPredictor.adapt."
        )
    if isinstance(adaptation, NeuralCache):
        return _cache_log_probs(network, tokens, before, adaptation)
    from anaphora.evaluation.dynamic import dynamic_log_probs

    if isinstance(adaptation, RmsEvaluation):
        return dynamic_log_probs(network, tokens, before, adaptation.dynamic, adaptation.sizes)
    return dynamic_log_probs(network, tokens, before, adaptation)


def fitted_adaptation(
    model: TextModel, tokens: Iterable[int], trained_on: Iterable[int], before: int, adaptation: Adaptation
) -> Adaptation:
    """Return the adaptation with the numbers that suit a text best, where they are not given; raises as above.

    What the rule "rms" scales by is found on the tokens that the model was ``trained_on``; nothing else reads them.
    """
    if is_fitted(adaptation):
        return adaptation
    network = network_of(model, adaptation)
    if isinstance(adaptation, NeuralCache):
        return _fitted_cache(network, tokens, before, adaptation)
    from anaphora.evaluation.dynamic import fitted_dynamic, gradient_sizes

    assert isinstance(adaptation, Dynamic)
    if adaptation.rule == "sgd":
        return fitted_dynamic(network, tokens, before, adaptation)
    sizes = gradient_sizes(network, trained_on, before, adaptation.steps)
    return RmsEvaluation(fitted_dynamic(network, tokens, before, adaptation, sizes), sizes)


def is_fitted(adaptation: Adaptation) -> bool:
    """True if nothing about an adaptation is left to be found."""
    if isinstance(adaptation, NeuralCache):
        return None not in (adaptation.theta, adaptation.weight)
    return not isinstance(adaptation, Dynamic) or (adaptation.rule == "sgd" and adaptation.learning_rate > 0)


def network_of(model: TextModel, adaptation: Adaptation) -> StateModel:
    """Return the network of a model for an adaptation: for gradients in torch, which ``model.in_torch`` may return.

    Raises ConfigError for a model that is no network, and MissingExtraError where torch is missing.
    """
    if not hasattr(model, "states_and_target_log_probs"):
        raise ConfigError(
            "A neural cache and dynamic evaluation need one network, not n-grams or an interpolation: evaluate the "
            "network alone, or leave them out."
        )
    if isinstance(adaptation, NeuralCache):
        return cast(StateModel, model)
    if find_spec("torch") is None:
        raise MissingExtraError("torch", "train")
    return cast(StateModel, model.in_torch() if hasattr(model, "in_torch") else model)


THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Values of theta that are tried where none is given."""

WINDOW = 128
"""Places that are looked up at once."""


class _Lookups(NamedTuple):
    """Log-probabilities of N tokens of a text."""

    ids_N: Array
    own_N: Array
    """ln p by the network."""
    cached_KN: Array
    """ln p by the cache, for each theta."""
    known_N: Array
    """True if anything was remembered by then."""


def _cache_log_probs(model: StateModel, tokens: Iterable[int], before: int, cache: NeuralCache) -> LogProbs:
    """Yield the tokens of a text and ln p of each, read one by one: as ``stream.stream_log_probs``."""
    theta, weight = cache.resolve()
    weights_K = np.array([1 - weight, weight])
    for found in _lookups(model, tokens, before, cache.tokens, [theta]):
        yield found.ids_N, interpolate(*_both(found.own_N, found.cached_KN[0], found.known_N), weights_K)


def _fitted_cache(model: StateModel, tokens: Iterable[int], before: int, cache: NeuralCache) -> NeuralCache:
    """Return the cache with the theta and the weight under which a text is most probable, where they are not given."""
    thetas = list(THETAS) if cache.theta is None else [cache.theta]
    parts = zip(*_lookups(model, tokens, before, cache.tokens, thetas), strict=True)
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


def _lookups(
    model: StateModel, tokens: Iterable[int], before: int, size: int, thetas: Sequence[float]
) -> Iterator[_Lookups]:
    """Yield the predictions of network and cache for the tokens of a text; the cache remembers ``size`` tokens."""
    carry, keys_MH, said_M = None, np.empty((0, 0)), np.empty(0, np.int64)
    for window in windows(tokens, before, WINDOW):
        states_BTH, log_probs_BT, carry = model.states_and_target_log_probs(window, carry)
        ids_T, states_TH = window.target_ids.ids_BT[0], states_BTH[0]
        keys_MH = np.concatenate([keys_MH, states_TH]) if len(said_M) else states_TH
        said_M = np.concatenate([said_M, ids_T])
        cached_KT, known_T = _look_up(states_TH, ids_T, keys_MH, said_M, size, thetas)
        yield _Lookups(ids_T, log_probs_BT[0], cached_KT, known_T)
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
