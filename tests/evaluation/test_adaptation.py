"""A network that remembers or learns from what it predicts: what the equations say, in windows of any size."""

import random
from copy import deepcopy
from typing import Any, cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import ConfigError
from anaphora.evaluation import dynamic, neural_cache
from anaphora.evaluation.adaptation import Adaptation, Static, adapted_log_probs, fitted_adaptation
from anaphora.evaluation.dynamic import Dynamic
from anaphora.evaluation.neural_cache import NeuralCache
from anaphora.evaluation.windows import rows_of_text
from anaphora.models import registry
from anaphora.text.coder import symbols_of

SIZE = 12
NETWORKS = {
    "recurrent": {"embedding": {"size": 8}, "recurrence": {"size": 8}},
    "window": {"embedding": {"size": 8}, "window": {"kind": "feedforward", "words": 2, "size": 8}},
}
DRAW = random.Random(4)
TEXT = [DRAW.randrange(3, SIZE) for _ in range(40)] * 2


def make(kind: str = "recurrent") -> Any:
    model: Any = registry.build(
        "language-model", {"model": kind} | NETWORKS[kind], {"text": symbols_of(SIZE)}, "a test"
    )
    model.initialise(3)
    return model.eval()


def log_probs(model: Any, ids: list[int], adaptation: Adaptation) -> torch.Tensor:
    found = list(adapted_log_probs(model, iter(ids), 3, adaptation))
    assert torch.cat([some for some, _ in found]).tolist() == ids
    return torch.cat([some for _, some in found])


def cached_by_hand(model: Any, ids: list[int], cache: NeuralCache) -> tuple[list[float], list[float]]:
    """p of every unit, and what the probabilities of all symbols sum to at its place."""
    whole = rows_of_text(torch.tensor([[3, *ids]]), torch.tensor([False]))
    with torch.no_grad():
        states, own, _ = model.states_and_target_log_probs(whole)
    found, sums = [], []
    for t, unit in enumerate(ids):
        past = range(max(0, t - cache.units), t)
        if not past:
            found.append(float(own[0, t].exp()))
            continue
        weight = {i: float((cache.theta * states[0, t] @ states[0, i]).exp()) for i in past}
        total = sum(weight.values())
        p = [sum(weight[i] for i in past if ids[i] == w) / total for w in range(SIZE)]
        sums.append(sum(p))
        found.append((1 - cache.weight) * float(own[0, t].exp()) + cache.weight * p[unit])
    return found, sums


@pytest.mark.parametrize("kind", list(NETWORKS))
@settings(max_examples=5)
@given(units=st.integers(1, 30), theta=st.sampled_from([0.1, 2.0]), window=st.sampled_from([1, 7, 128]))
def test_a_neural_cache_says_what_its_equations_say(kind: str, units: int, theta: float, window: int) -> None:
    model, cache = make(kind), NeuralCache(units=units, theta=theta, weight=0.3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neural_cache, "WINDOW", window)
        found = log_probs(model, TEXT[:45], cache)
    expected, sums = cached_by_hand(model, TEXT[:45], cache)
    assert found.exp().tolist() == pytest.approx(expected, rel=1e-4)
    assert sums == pytest.approx([1.0] * len(sums))


def test_what_a_neural_cache_leaves_open_is_fitted_and_helps_where_a_text_repeats_itself() -> None:
    model = make()
    chosen = fitted_adaptation(model, iter(TEXT), 3, NeuralCache(units=60))
    assert isinstance(chosen, NeuralCache)
    assert chosen.theta in neural_cache.THETAS and 0 < chosen.weight < 1
    assert float(log_probs(model, TEXT, chosen).sum()) > float(log_probs(model, TEXT, Static()).sum())
    given = NeuralCache(units=60, theta=0.4, weight=0.2)
    assert fitted_adaptation(model, iter(TEXT), 3, given) == given
    half = fitted_adaptation(model, iter(TEXT), 3, NeuralCache(units=60, theta=0.4))
    assert cast(NeuralCache, half).theta == 0.4


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_a_segment_is_predicted_with_what_was_learnt_from_those_before_it(kind: str) -> None:
    model = make(kind)
    before = deepcopy(model.state_dict())
    found = log_probs(model, TEXT[:8], Dynamic(rate=0.1, steps=4))
    first, second = (
        rows_of_text(torch.tensor([ids]), torch.tensor([goes_on]))
        for ids, goes_on in (([3, *TEXT[:4]], False), (TEXT[3:8], True))
    )
    loss, carry = model(first)
    weights = [weight for weight in model.parameters() if weight.numel()]
    assert found[:4].sum().item() == pytest.approx(-loss.sum.item(), rel=1e-5)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name])  # evaluation changed nothing
    gradients = torch.autograd.grad(loss.sum, weights)
    with torch.no_grad():
        for weight, gradient in zip(weights, gradients, strict=True):
            weight -= 0.1 * gradient
        expected, _ = model.target_log_probs(second, carry)
    torch.testing.assert_close(found[4:], expected[0])


def test_a_rate_of_nothing_or_a_decay_of_all_learns_nothing_and_a_good_rate_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dynamic, "RATES", (1e-9, 0.03, 1e9))
    model, text = make(), TEXT
    plain = log_probs(model, text, Static())
    for still in (Dynamic(rate=1e-30, steps=10), Dynamic(rate=0.1, steps=10, decay=1.0)):
        torch.testing.assert_close(log_probs(model, text, still), plain, rtol=1e-5, atol=1e-6)
    chosen = fitted_adaptation(model, iter(text), 3, Dynamic(steps=10))
    assert isinstance(chosen, Dynamic) and chosen.rate == 0.03
    assert float(log_probs(model, text, chosen).sum()) > float(plain.sum()) + 1
    assert fitted_adaptation(model, iter(text), 3, chosen) == chosen


@pytest.mark.parametrize("adaptation", [NeuralCache(), Dynamic()])
def test_counts_have_no_states_and_no_gradient(adaptation: Adaptation) -> None:
    counts: Any = registry.build("language-model", {"model": "ngram"}, {"text": symbols_of(SIZE)}, "a test")
    for call in (adapted_log_probs, fitted_adaptation):
        with pytest.raises(ConfigError, match="need one network"):
            call(counts, TEXT, 3, adaptation)
