"""Weights of an interpolation: every step of their fit makes the text likelier, and they always sum to one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.inference.interpolation.weights import STEPS, fitted_weights, interpolate, step
from anaphora.protocols import Array


def sources(seed: int, count: int, places: int, silent: float) -> tuple[Array, Array]:
    """Log-probabilities, and where the sources but the first know something."""
    draw = np.random.default_rng(seed)
    log_probs = np.log(draw.random((count, places)))
    known = draw.random((count, places)) >= silent
    known[0] = True
    return np.where(known, log_probs, -np.inf), known


SOURCES = st.builds(sources, st.integers(0, 999), st.integers(1, 5), st.integers(1, 40), st.sampled_from([0.0, 0.4]))


@settings(max_examples=25)
@given(SOURCES)
def test_no_step_of_the_fit_makes_the_text_less_likely(drawn: tuple[Array, Array]) -> None:
    weights, before = np.full(len(drawn[0]), 1 / len(drawn[0])), -np.inf
    for _ in range(20):
        weights, found = step(*drawn, weights)
        assert found >= before - 1e-9
        assert weights.sum().item() == pytest.approx(1) and bool((weights >= 0).all())
        before = found


@settings(max_examples=25)
@given(SOURCES)
def test_fitted_weights_are_no_worse_than_equal_ones_or_any_source_alone(drawn: tuple[Array, Array]) -> None:
    log_probs, known = drawn
    best = float(interpolate(*drawn, fitted_weights(*drawn)).sum())
    equal = np.ones(len(log_probs)) / len(log_probs)
    within = log_probs.shape[1] * math.log(len(log_probs)) / STEPS  # of the best, which so many steps come close to
    assert best >= float(interpolate(*drawn, equal).sum()) - 1e-6 * log_probs.shape[1]
    for alone, everywhere in zip(log_probs, known.all(axis=1), strict=True):
        if everywhere and known.all():
            assert best >= float(alone.sum()) - max(within, 1e-3 * log_probs.shape[1])


@given(st.integers(0, 99))
def test_who_knows_nothing_leaves_a_share_to_the_others(seed: int) -> None:
    log_probs, known = sources(seed, 3, 6, 0.5)
    weights = np.array([0.5, 0.2, 0.3])
    for place in range(6):
        here = [k for k in range(3) if known[k, place]]
        total = sum(float(weights[k]) for k in here)
        expected = sum(float(weights[k]) / total * math.exp(log_probs[k, place]) for k in here)
        assert math.exp(interpolate(*(x[:, place] for x in (log_probs, known)), weights)) == pytest.approx(expected)
