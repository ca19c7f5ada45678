"""Tests of significance: their p values, intervals, and systems of several runs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.segments import Floats, SegmentMetric, counts, fraction
from anaphora.evaluation.significance import bootstrap, contrast, holm


def accuracy(right: list[int]) -> SegmentMetric:
    return SegmentMetric("accuracy", counts((right, [1] * len(right))), fraction)


def outputs(chance: float, seed: int, segments: int = 200) -> SegmentMetric:
    return accuracy((np.random.default_rng(seed).random(segments) < chance).astype(int).tolist())


def test_a_system_never_differs_from_itself() -> None:
    one = outputs(0.5, 1)
    found = contrast([one], [one], samples=100)
    assert (found.difference, found.interval) == (0.0, (0.0, 0.0))
    assert (found.bootstrap_p, found.randomisation_p) == (1.0, 1.0)


def test_a_clear_difference_is_no_chance_by_either_test() -> None:
    found = contrast([outputs(0.3, 1)], [outputs(0.8, 2)], samples=200)
    low, high = found.interval
    assert 0 < low < found.difference < high
    assert found.bootstrap_p == found.randomisation_p == pytest.approx(1 / 201)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=6))
def test_randomisation_is_the_exact_test_of_all_exchanges(rows: list[tuple[int, int]]) -> None:
    first, second = (list(side) for side in zip(*rows, strict=True))
    real = abs(sum(second) - sum(first))
    as_far = [
        abs(sum(b - a if keep else a - b for (a, b), keep in zip(rows, kept, strict=True))) >= real
        for kept in product((True, False), repeat=len(rows))
    ]
    found = contrast([accuracy(first)], [accuracy(second)], samples=4000).randomisation_p
    assert found == pytest.approx(sum(as_far) / len(as_far), abs=0.04)


def test_p_values_of_systems_that_do_not_differ_are_spread_evenly() -> None:
    found = [contrast([outputs(0.5, 2 * k)], [outputs(0.5, 2 * k + 1)], samples=100) for k in range(100)]
    for name in ("bootstrap_p", "randomisation_p"):
        p_values = [getattr(one, name) for one in found]
        assert 0 <= sum(p < 0.1 for p in p_values) <= 22
        assert sum(p < 0.5 for p in p_values) == pytest.approx(50, abs=20)


def test_a_system_of_several_seeds_counts_by_their_mean() -> None:
    seeds = [outputs(0.6, seed) for seed in (1, 2, 3)]
    found = contrast([outputs(0.4, 9)], seeds, samples=200)
    mean = sum(one.value for one in seeds) / 3
    assert found.difference == pytest.approx(mean - outputs(0.4, 9).value)
    alone = [bootstrap([one], 200) for one in seeds]
    assert bootstrap(seeds, 200) == pytest.approx(sum(alone) / 3)


def test_memory_does_not_change_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = [outputs(0.4, 1, 50)], [outputs(0.6, 2, 50), outputs(0.6, 3, 50)]
    at_once = contrast(*systems, samples=100)
    monkeypatch.setattr("anaphora.evaluation.significance._CELLS", 3 * 50 * 7)
    assert contrast(*systems, samples=100) == at_once


def test_the_difference_of_a_metric_that_is_no_mean_is_that_of_its_sums() -> None:
    def square(sums_NK: Floats) -> Floats:
        squares: Floats = sums_NK[:, 0] ** 2
        return squares

    first, second = (SegmentMetric("squares", np.array(rows, float)[:, None], square) for rows in ([1, 2], [3, 1]))
    assert contrast([first], [second], samples=10).difference == 16 - 9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_adjusted_p_values_are_no_smaller_and_keep_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= one <= 1 for p, one in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    assert [adjusted[at] for at in order] == sorted(adjusted)
    assert min(adjusted) == pytest.approx(min(1.0, min(p_values) * len(p_values)))


def test_holms_adjustment_of_a_known_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
