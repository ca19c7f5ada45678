"""Tests of significance: their p values, intervals, and systems of several runs."""

import random
from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from anaphora.evaluation.bleu import METRICS, MetricName, bleu, chrf, segment_metric
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.evaluation.significance import SEED, Comparison, Contrast, bootstrap, contrast, holm, paired_bootstrap

WORDS = [f"word{number}" for number in range(20)]


REFERENCES = [" ".join(random.Random(number).sample(WORDS, 12)) for number in range(30)]


def spoilt(chance: float, seed: int) -> list[str]:
    """References each of whose words is spoilt with the given chance."""
    draws = random.Random(seed)
    return [" ".join("oops" if draws.random() < chance else word for word in line.split()) for line in REFERENCES]


def bootstrapped(
    first: list[str], second: list[str], samples: int, seed: int = SEED, name: MetricName = "BLEU"
) -> Comparison:
    before, after = (segment_metric(outputs, REFERENCES, name, language="en") for outputs in (first, second))
    return paired_bootstrap(before, after, samples, seed)


@pytest.mark.parametrize("name", METRICS)
def test_the_scores_compared_are_those_of_the_whole_text_and_the_seed_decides_the_draws(name: MetricName) -> None:
    worse, better = spoilt(0.4, 1), spoilt(0.1, 2)
    found, again, other = (bootstrapped(worse, better, 20, seed, name) for seed in (1, 1, 2))
    assert found == again != other
    score = bleu if name == "BLEU" else chrf
    assert found.first == pytest.approx(score(worse, REFERENCES, language="en").value)
    assert found.second == pytest.approx(score(better, REFERENCES, language="en").value)
    assert found.signature == score(worse, REFERENCES, language="en").signature
    low, high = found.interval
    assert 0 < low < found.mean_difference < high and found.p_value == pytest.approx(1 / 21)
    turned = bootstrapped(better, worse, 20, 1, name)
    assert turned.mean_difference == pytest.approx(-found.mean_difference)
    assert turned.interval == pytest.approx((-high, -low))
    assert "n = 20, seed 1" in str(found) and "nrefs:1" in str(found)
    assert f"difference {found.second - found.first:+.2f} " in str(found)


def test_the_p_value_counts_the_draws_as_far_from_their_mean_as_the_difference_is_from_none() -> None:
    first, second = spoilt(0.27, seed=1), spoilt(0.23, seed=3)

    def difference(drawn: Iterable[int]) -> float:
        before, after, correct = ([side[place] for place in drawn] for side in (first, second, REFERENCES))
        return BLEU().corpus_score(after, [correct]).score - BLEU().corpus_score(before, [correct]).score

    draws = np.random.default_rng(SEED).integers(30, size=(50, 30)).tolist()
    differences = [difference(drawn) for drawn in draws]
    mean, real = sum(differences) / 50, difference(range(30))
    expected = (sum(abs(drawn - mean) >= abs(real) for drawn in differences) + 1) / 51
    assert 0.05 < expected < 0.95
    assert bootstrapped(first, second, samples=50).p_value == expected


def accuracy(right: list[int]) -> SegmentMetric:
    return SegmentMetric("accuracy", counts((right, [1] * len(right))), fraction)


def outputs(chance: float, seed: int, segments: int = 200) -> SegmentMetric:
    return accuracy((np.random.default_rng(seed).random(segments) < chance).astype(int).tolist())


def test_a_system_never_differs_from_itself_and_a_clear_difference_is_no_chance_by_either_test() -> None:
    one = outputs(0.3, 1)
    assert contrast([one], [one], samples=100) == Contrast(0.0, (0.0, 0.0), 1.0, 1.0)
    found = contrast([one], [outputs(0.8, 2)], samples=100)
    assert found.interval[0] > 0
    assert found.bootstrap_p == found.randomisation_p == pytest.approx(1 / 101)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=6))
def test_randomisation_is_the_exact_test_of_all_exchanges(rows: list[tuple[int, int]]) -> None:
    first, second = (list(side) for side in zip(*rows, strict=True))
    real = abs(sum(second) - sum(first))
    as_far = [
        abs(sum(b - a if keep else a - b for (a, b), keep in zip(rows, kept, strict=True))) >= real
        for kept in product((True, False), repeat=len(rows))
    ]
    found = contrast([accuracy(first)], [accuracy(second)], samples=2000).randomisation_p
    assert found == pytest.approx(sum(as_far) / len(as_far), abs=0.05)


def test_a_system_of_several_seeds_counts_by_its_mean_whatever_memory_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    first, seeds = [outputs(0.4, 9, 50)], [outputs(0.6, seed, 50) for seed in (1, 2, 3)]
    found = contrast(first, seeds, samples=100)
    assert found.difference == pytest.approx(sum(one.value for one in seeds) / 3 - first[0].value)
    assert bootstrap(seeds, 100) == pytest.approx(sum(bootstrap([one], 100) for one in seeds) / 3)
    monkeypatch.setattr("anaphora.evaluation.significance._CELLS", 3 * 50 * 7)
    assert contrast(first, seeds, samples=100) == found


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_adjusted_p_values_are_no_smaller_and_keep_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= one <= 1 for p, one in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    assert [adjusted[at] for at in order] == sorted(adjusted)
    assert min(adjusted) == pytest.approx(min(1.0, min(p_values) * len(p_values)))
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
