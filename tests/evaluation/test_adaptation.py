"""A network that remembers or learns from what it predicts: what the equations say, in windows of any size."""

import random
from copy import deepcopy
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.config import parse
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation import adaptation, dynamic
from anaphora.evaluation.adaptation import Adaptation, Dynamic, NeuralCache, RmsEvaluation, Static
from anaphora.evaluation.stream import rows_of_text
from anaphora.text.tokenizer import symbols_of
from tests.networks import build

SIZE = 12
NETWORKS = {
    "recurrent": {"embedding": {"size": 8}, "recurrence": {"size": 8}},
    "feed-forward": {"embedding": {"size": 8}, "network": {"kind": "feed-forward", "words": 2, "size": 8}},
}
DRAW = random.Random(4)
TEXT = [DRAW.randrange(3, SIZE) for _ in range(40)] * 2
Tensors = tuple[torch.Tensor, ...]


def make(kind: str = "recurrent") -> Any:
    model: Any = build("language-model", {"model": kind} | NETWORKS[kind], {"text": symbols_of(SIZE)}, "a test")
    model.initialise(3)
    return model.eval()


def log_probs(model: Any, ids: list[int], by: Adaptation) -> Any:
    found = list(adaptation.adapted_log_probs(model, iter(ids), 3, by))
    assert np.concatenate([some for some, _ in found]).tolist() == ids
    return np.concatenate([some for _, some in found])


def cached_by_hand(model: Any, ids: list[int], cache: NeuralCache) -> tuple[list[float], list[float]]:
    """p of every unit, and what the probabilities of all symbols sum to at its place."""
    states, own, _ = model.states_and_target_log_probs(rows_of_text(np.array([[3, *ids]]), np.array([False])))
    found, sums = [], []
    for t, unit in enumerate(ids):
        past = range(max(0, t - cache.tokens), t)
        if not past:
            found.append(np.exp(own[0, t]))
            continue
        weight = {i: np.exp(cache.theta * states[0, t] @ states[0, i]) for i in past}
        total = sum(weight.values())
        p = [sum(weight[i] for i in past if ids[i] == w) / total for w in range(SIZE)]
        sums.append(sum(p))
        found.append((1 - cache.weight) * np.exp(own[0, t]) + cache.weight * p[unit])
    return found, sums


@pytest.mark.parametrize("kind", list(NETWORKS))
@settings(max_examples=5)
@given(units=st.integers(1, 20), theta=st.sampled_from([0.0, 0.1, 2.0]), window=st.sampled_from([1, 7, 128]))
def test_a_neural_cache_says_what_its_equations_say(kind: str, units: int, theta: float, window: int) -> None:
    model, cache = make(kind), NeuralCache(tokens=units, theta=theta, weight=0.3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptation, "WINDOW", window)
        found = log_probs(model, TEXT[:25], cache)
    expected, sums = cached_by_hand(model, TEXT[:25], cache)
    assert np.exp(found).tolist() == pytest.approx(expected, rel=1e-4)
    assert sums == pytest.approx([1.0] * len(sums))


def test_what_a_neural_cache_leaves_open_is_fitted_and_helps_where_a_text_repeats_itself() -> None:
    model = make()
    chosen = adaptation.fitted_adaptation(model, iter(TEXT), (), 3, NeuralCache(tokens=60))
    assert isinstance(chosen, NeuralCache)
    assert chosen.theta in adaptation.THETAS and 0 < chosen.weight < 1
    assert float(log_probs(model, TEXT, chosen).sum()) > float(log_probs(model, TEXT, Static()).sum())
    given = NeuralCache(tokens=60, theta=0.4, weight=0.2)
    assert adaptation.fitted_adaptation(model, iter(TEXT), (), 3, given) == given
    half = adaptation.fitted_adaptation(model, iter(TEXT), (), 3, NeuralCache(tokens=60, theta=0.4))
    assert cast(NeuralCache, half).theta == 0.4
    none = adaptation.fitted_adaptation(model, iter(TEXT), (), 3, NeuralCache(tokens=60, weight=0.0))
    np.testing.assert_array_equal(log_probs(model, TEXT, none), log_probs(model, TEXT, Static()))
    with pytest.raises(ConfigError, match="without theta and weight"):
        log_probs(model, TEXT, NeuralCache(tokens=60, theta=0.4))


def learnt_by_hand(model: Any, ids: list[int], options: Dynamic, sizes: Tensors) -> Any:
    """ln p of every unit, the weights moved after each segment as the paper says, one by one; ``model`` is changed."""
    weights = [weight for weight in model.parameters() if weight.numel()]
    trained = [weight.detach().clone() for weight in weights]
    mean = float(torch.cat([size.flatten() for size in sizes]).mean()) if sizes else 0.0
    found, carry = [], None
    for place in range(0, len(ids), options.steps):
        segment = np.array([([3, *ids])[place : place + options.steps + 1]])
        window = rows_of_text(segment, np.array([place > 0]))
        found.append(model.target_log_probs(window, carry)[0][0])
        loss, carry = model(window, carry)
        gradients = torch.autograd.grad(loss.sum, weights)
        with torch.no_grad():
            for number, (weight, gradient, before) in enumerate(zip(weights, gradients, trained, strict=True)):
                scale, back = torch.ones_like(weight), torch.ones_like(weight)
                if sizes:
                    scale = sizes[number] + options.epsilon * mean
                    back = (sizes[number] / mean).clamp(max=1 / options.decay)
                weight += -options.learning_rate * gradient / scale + options.decay * back * (before - weight)
    return np.concatenate(found)


def sizes_by_hand(model: Any, ids: list[int], rows: int, steps: int) -> Tensors:
    """The root of the mean squared gradient of every weight, over the segments of equal stretches side by side."""
    weights, carry, length = [weight for weight in model.parameters() if weight.numel()], None, len(ids) // rows
    squares: list[list[torch.Tensor]] = [[] for _ in weights]
    for place in range(0, length - steps + 1, steps):
        stretches = [([3, *ids])[length * row + place :][: steps + 1] for row in range(rows)]
        loss, carry = model(rows_of_text(np.array(stretches), np.full(rows, place > 0)), carry)
        for some, gradient in zip(squares, torch.autograd.grad(loss.sum, weights), strict=True):
            some.append(gradient**2 / rows)
    return tuple(torch.stack(some).mean(0).sqrt() for some in squares)


@pytest.mark.parametrize("kind", list(NETWORKS))
@pytest.mark.parametrize("rule", ["sgd", "rms"])
@settings(max_examples=3)
@given(steps=st.integers(1, 12), decay=st.sampled_from([0.01, 0.4, 1.0]), epsilon=st.sampled_from([0.1, 3.0]))
def test_weights_move_as_the_equations_say(kind: str, rule: str, steps: int, decay: float, epsilon: float) -> None:
    model = make(kind)
    before = deepcopy(model.state_dict())
    options = Dynamic(learning_rate=0.1, steps=steps, decay=decay)
    by, sizes = cast(Adaptation, options), Tensors()
    if rule == "rms":
        options = Dynamic(rule="rms", learning_rate=0.01, steps=steps, decay=decay, epsilon=epsilon)
        by = adaptation.fitted_adaptation(model, iter(()), iter(TEXT[:30]), 3, options)
        assert isinstance(by, RmsEvaluation) and by.dynamic == options
        sizes = by.sizes
    found = log_probs(model, TEXT[:20], by)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name])  # evaluation changed nothing
    np.testing.assert_allclose(found, learnt_by_hand(model, TEXT[:20], options, sizes), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", list(NETWORKS))
@pytest.mark.parametrize(("units", "rows", "steps"), [(20, 1, 7), (7, 1, 7), (12, 1, 1), (80, 5, 5)])
def test_the_sizes_of_gradients_are_those_over_all_segments(
    kind: str, units: int, rows: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(kind)
    monkeypatch.setattr(dynamic, "ROWS", rows)
    found = dynamic.gradient_sizes(model, iter(TEXT[:units]), 3, steps)
    torch.testing.assert_close(found, sizes_by_hand(model, TEXT[:units], rows, steps))


def test_a_rate_of_nothing_learns_nothing_and_a_good_rate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic, "RATES", {"sgd": (1e-9, 0.03, 1e9), "rms": (1e-9, 0.03, 1e9)})
    model, text = make(), TEXT
    plain = log_probs(model, text, Static())
    still = log_probs(model, text, Dynamic(learning_rate=1e-30, steps=10))
    np.testing.assert_allclose(still, plain, rtol=1e-5, atol=1e-6)
    for asked in Dynamic(steps=10), Dynamic(rule="rms", steps=10):
        chosen = adaptation.fitted_adaptation(model, iter(text), iter(text), 3, asked)
        options = chosen.dynamic if isinstance(chosen, RmsEvaluation) else chosen
        assert isinstance(options, Dynamic) and options.learning_rate == 0.03 and str(chosen) == str(options)
        assert float(log_probs(model, text, chosen).sum()) > float(plain.sum()) + 1
        assert adaptation.fitted_adaptation(model, iter(text), (), 3, chosen) == chosen


def test_what_is_not_known_or_no_network_is_refused() -> None:
    with pytest.raises(ConfigError, match="the rule 'rms' need numbers that are not known yet"):
        adaptation.adapted_log_probs(make(), TEXT, 3, Dynamic(rule="rms", learning_rate=0.1))
    with pytest.raises(DataError, match="fewer than 7 predictions"):
        adaptation.fitted_adaptation(make(), iter(TEXT), iter(TEXT[:6]), 3, Dynamic(rule="rms", steps=7))
    with pytest.raises(ConfigError, match=r'epsilon = 2\.0 does not go with rule = "sgd"'):
        parse(Dynamic, {"epsilon": 2.0}, "--dynamic")
    counts: Any = build("language-model", {"model": "ngram"}, {"text": symbols_of(SIZE)}, "a test")
    for by in NeuralCache(), Dynamic():
        with pytest.raises(ConfigError, match="need one network"):
            adaptation.fitted_adaptation(counts, TEXT, (), 3, by)


def test_gradients_are_those_of_the_network_in_torch() -> None:
    in_torch: Any = object()
    described: Any = SimpleNamespace(states_and_target_log_probs=None, in_torch=lambda: in_torch)
    assert [adaptation.network_of(described, one) for one in (Dynamic(), NeuralCache())] == [in_torch, described]
