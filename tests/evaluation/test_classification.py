"""The metrics of classifiers, on cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.evaluation.classification import (
    BINS,
    area_under_curve,
    best_thresholds,
    calibration_error,
    classification_scores,
    several_label_scores,
)
from anaphora.evaluation.logistic import Logistic


def test_metrics_equal_a_case_worked_out_by_hand() -> None:
    probabilities = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    scores = classification_scores(("a", "b", "c"), [0, 1, 1, 1], probabilities)
    assert scores.confusion == ((1, 0, 0), (1, 2, 0), (0, 0, 0))
    assert scores.accuracy == 0.75
    assert scores.f1 == pytest.approx((2 / 3, 0.8, 0.0))
    assert scores.macro_f1 == pytest.approx((2 / 3 + 0.8) / 2)
    assert scores.loss == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.7]).mean())
    # bins of .9, .6, .8 and .7, one text each
    assert scores.calibration_error == pytest.approx((0.1 + 0.6 + 0.2 + 0.3) / 4)
    assert [one.examples for one in scores.reliability] == [1, 1, 1, 1]
    assert "accuracy 75.00%" in str(scores) and scores.json()["confusion"][1] == [1, 2, 0]


EXAMPLES = st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=30)


def columns(examples: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in examples]), np.array([float(label) for _, label in examples])


@given(EXAMPLES)
def test_the_area_is_how_often_the_right_one_of_two_has_the_higher_score(examples: list[tuple[float, bool]]) -> None:
    pairs = [(p > q) + (p == q) / 2 for p, a in examples for q, b in examples if a and not b]
    found = area_under_curve(*columns(examples))
    assert found == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


@given(EXAMPLES)
def test_the_calibration_error_is_the_mean_gap_of_bins(examples: list[tuple[float, bool]]) -> None:
    gap = 0.0
    for b in range(BINS):
        own = [(p, label) for p, label in examples if min(int(p * BINS), BINS - 1) == b]
        gap += abs(sum(p - label for p, label in own))
    assert calibration_error(*columns(examples)) == pytest.approx(gap / len(examples))


def test_a_regression_finds_the_probabilities_that_made_its_labels() -> None:
    draw = np.random.default_rng(3)
    features_NF = draw.normal(5, 3, (20_000, 2))
    true_N = 1 / (1 + np.exp(-(features_NF[:, 0] - 5 - 0.5 * (features_NF[:, 1] - 5) + 0.3)))
    labels_N = (draw.random(20_000) < true_N).astype(float)
    found_N = Logistic.fit(features_NF, labels_N).probabilities(features_NF)
    assert np.abs(found_N - true_N).mean() < 0.02 and calibration_error(found_N, labels_N) < 0.02


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_that_are_all_alike_and_features_that_never_change_have_a_probability(label: float) -> None:
    function = Logistic.fit(np.ones((50, 3)), np.full(50, label))
    [p] = function.probabilities(np.array([[1.0, 7.0, -2.0]]))
    assert 0 < p < 1
    assert function.probabilities(np.ones((1, 3))) == pytest.approx(51 / 52 if label else 1 / 52, abs=1e-3)
    with pytest.raises(DataError, match="needs examples"):
        Logistic.fit(np.ones((0, 3)), np.ones(0))


TRUE_NC = np.array([[True, False], [True, True], [False, False]])
PROBABILITIES_NC = np.array([[0.9, 0.2], [0.3, 0.8], [0.4, 0.1]])


def test_metrics_of_several_labels_equal_a_case_worked_out_by_hand() -> None:
    scores = several_label_scores(("a", "b"), TRUE_NC, PROBABILITIES_NC, np.array([0.5, 0.5]))
    assert scores.by_label["a"].json() == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2}
    assert (scores.micro_f1, scores.macro_f1) == (pytest.approx(0.8), pytest.approx((2 / 3 + 1) / 2))
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.loss == pytest.approx(-np.log([0.9, 0.8, 0.3, 0.8, 0.6, 0.9]).sum() / 3)
    assert "micro-F1 80.00%" in str(scores) and scores.json()["by_label"]["b"]["f1"] == 1.0


def test_thresholds_lie_where_f1_is_largest() -> None:
    # of the first label, taking all three gives 2 * 2 / (3 + 2) = 0.8, more than the first alone
    assert best_thresholds(TRUE_NC, PROBABILITIES_NC) == pytest.approx([0.15, 0.5])
    assert best_thresholds(np.zeros((3, 2), bool), PROBABILITIES_NC).tolist() == [0.5, 0.5]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.5, 0.7, 0.9])), min_size=1, max_size=12))
def test_no_other_threshold_has_a_larger_f1(examples: list[tuple[bool, float]]) -> None:
    true_N1, found_N1 = (np.array(one)[:, None] for one in zip(*examples, strict=True))
    [best] = best_thresholds(true_N1, found_N1)

    def f1(threshold: float) -> float:
        return several_label_scores(["a"], true_N1, found_N1, np.array([threshold])).micro_f1

    assert all(f1(best) >= f1(other) - 1e-12 for other in (0.05, 0.15, 0.3, 0.6, 0.8, 0.95))
