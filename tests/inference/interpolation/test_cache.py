"""The cache: its probabilities are the equations', sum to one, and do not depend on how a text is read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.inference.interpolation.cache import NO_COUNTS, CountCache
from anaphora.protocols import Array
from tests.memory_bound import memory_below

SIZE = 9
TOKENS = st.lists(st.integers(3, SIZE - 1), min_size=1, max_size=30)
CACHES = st.builds(
    CountCache, order=st.integers(1, 4), tokens=st.integers(1, 12), half_life=st.sampled_from([0.0, 2.5])
)


def by_hand(cache: CountCache, text: list[int], order: int, unit: int) -> float | None:
    """p_k of the equations, from the units themselves; None where the order knows nothing."""
    history = text[-cache.tokens :]
    right = total = 0.0
    for place, found in enumerate(history):
        context, here = history[len(history) - order + 1 :], history[max(0, place - order + 1) : place]
        if order > 1 and (len(history) < order - 1 or here != context):
            continue
        age = len(history) - 1 - place
        weight = 0.5 ** (age / cache.half_life) if cache.half_life else 1.0
        total += weight
        right += weight * (found == unit)
    return right / total if total else None


def behind(cache: CountCache, text: list[int]) -> Array:
    history = cache.empty_context(1)
    for unit in text:
        history = cache.read(history, np.array([unit]))
    return history


@given(CACHES, TOKENS)
def test_probabilities_are_the_equations_and_sum_to_one(cache: CountCache, text: list[int]) -> None:
    found = cache.log_probs(behind(cache, text), SIZE)
    for order in range(1, cache.order + 1):
        row, known = np.exp(found.log_probs[order - 1, 0]), bool(found.known[order - 1, 0])
        expected = [by_hand(cache, text, order, unit) for unit in range(SIZE)]
        assert known is (expected[0] is not None)
        if known:
            assert row.tolist() == pytest.approx(expected, abs=1e-12)
            assert row.sum().item() == pytest.approx(1, abs=1e-12)


@settings(max_examples=25)
@given(CACHES, TOKENS, st.integers(0, 30), st.integers(1, 3))
def test_a_text_read_along_is_one_read_unit_by_unit(cache: CountCache, text: list[int], cut: int, rows: int) -> None:
    targets = [*text[1:], 5]
    ids, wanted = (np.array([units] * rows) for units in (text, targets))
    cut = min(cut, len(text))
    first = cache.along(cache.empty_context(rows), ids[:, :cut], wanted[:, :cut]) if cut else None
    history = cache.after(cache.empty_context(rows), ids[:, :cut], np.full(rows, cut))
    assert np.array_equal(history, np.tile(behind(cache, text[:cut]), (rows, 1)))
    rest = cache.along(history, ids[:, cut:], wanted[:, cut:]) if cut < len(text) else None
    parts = [part for part in (first, rest) if part is not None]
    log_probs, known = (np.concatenate([part[field] for part in parts], axis=2) for field in (0, 1))
    for place, unit in enumerate(targets):
        step = cache.log_probs(behind(cache, text[: place + 1]), SIZE)
        assert np.array_equal(known[:, 0, place], step.known[:, 0])
        np.testing.assert_allclose(log_probs[:, 0, place], step.log_probs[:, 0, unit], rtol=0, atol=1e-12)
    assert np.array_equal(log_probs, log_probs[:, :1].repeat(rows, axis=1))


def test_what_a_long_memory_takes_does_not_grow_with_the_text() -> None:
    cache, ids = CountCache(order=4, tokens=3000), (np.arange(1500) % 7).reshape(2, -1)
    with memory_below(ids.size * cache.order * cache.tokens * 4):  # of the eight bytes of each count
        found = cache.along(cache.empty_context(2), ids, ids)
    last = cache.log_probs(cache.after(cache.empty_context(2), ids, np.array([750, 750])), 7)
    assert np.array_equal(found.log_probs[:, 0, -1], last.log_probs[:, 0, ids[0, -1]])


def test_what_stands_behind_a_row_s_length_is_never_remembered() -> None:
    cache = CountCache(tokens=3)
    after = cache.after(cache.empty_context(2), np.array([[4, 5, 6, 7], [8, 9, 0, 0]]), np.array([4, 2]))
    assert after.tolist() == [[5, 6, 7], [-1, 8, 9]]


def test_nothing_is_said_where_nothing_was_read_and_by_no_cache() -> None:
    assert not CountCache().log_probs(CountCache().empty_context(2), SIZE).known.any()
    none = NO_COUNTS
    history = none.read(none.empty_context(2), np.array([4, 5]))
    assert none.log_probs(history, SIZE).log_probs.shape == (0, 2, SIZE)
    assert none.along(history, np.ones((2, 5)), np.ones((2, 5))).known.shape == (0, 2, 5)
