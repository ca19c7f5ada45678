"""The metrics of classifiers, on cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation import classification as metrics


def test_metrics_equal_a_case_worked_out_by_hand() -> None:
    probabilities = np.array([[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    scores = metrics.classification_scores(("a", "b", "c"), [0, 1, 1, 1], probabilities)
    assert scores.confusion == ((1, 0, 0), (1, 2, 0), (0, 0, 0))
    assert scores.accuracy == 0.75
    assert scores.json()["f1"] == pytest.approx({"a": 2 / 3, "b": 0.8, "c": 0.0})
    assert scores.macro_f1 == pytest.approx((2 / 3 + 0.8) / 2)
    assert scores.loss == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.7]).mean())
    # bins of .9, .6, .8 and .7, one text each
    assert scores.calibration_error == pytest.approx((0.1 + 0.6 + 0.2 + 0.3) / 4)
    assert [one.examples for one in scores.reliability] == [1, 1, 1, 1]
    assert "accuracy 75.00%" in str(scores) and scores.json()["confusion"][1] == [1, 2, 0]


def test_classes_that_are_never_predicted_are_reported() -> None:
    scores = metrics.classification_scores(("a", "b", "c", "d"), [0, 1, 1, 2], np.eye(4)[[0, 0, 2, 2]])
    assert str(scores).endswith("\nNever predicted: b (2 examples).")
    assert "Never" not in str(metrics.classification_scores(("a", "b"), [0, 1], np.eye(2)))


EXAMPLES = st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=30)


def columns(examples: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in examples]), np.array([float(label) for _, label in examples])


@given(EXAMPLES)
def test_the_area_is_how_often_the_right_one_of_two_has_the_higher_score(examples: list[tuple[float, bool]]) -> None:
    pairs = [(p > q) + (p == q) / 2 for p, a in examples for q, b in examples if a and not b]
    found = metrics.area_under_curve(*columns(examples))
    assert found == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


@given(EXAMPLES)
def test_the_calibration_error_is_the_mean_gap_of_bins(examples: list[tuple[float, bool]]) -> None:
    gap = 0.0
    for b in range(metrics.BINS):
        own = [(p, label) for p, label in examples if min(int(p * metrics.BINS), metrics.BINS - 1) == b]
        gap += abs(sum(p - label for p, label in own))
    assert metrics.calibration_error(*columns(examples)) == pytest.approx(gap / len(examples))


TRUE_NC = np.array([[True, False], [True, True], [False, False]])
PROBABILITIES_NC = np.array([[0.9, 0.2], [0.3, 0.8], [0.4, 0.1]])


def test_metrics_of_several_labels_equal_a_case_worked_out_by_hand() -> None:
    scores = metrics.several_label_scores(("a", "b"), TRUE_NC, PROBABILITIES_NC, np.array([0.5, 0.5]))
    assert scores.by_label["a"].json() == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2}
    assert (scores.micro_f1, scores.macro_f1) == (pytest.approx(0.8), pytest.approx((2 / 3 + 1) / 2))
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.loss == pytest.approx(-np.log([0.9, 0.8, 0.3, 0.8, 0.6, 0.9]).sum() / 3)
    assert "micro-F1 80.00%" in str(scores) and scores.json()["by_label"]["b"]["f1"] == 1.0


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.7, 0.9])), min_size=1, max_size=12))
def test_no_other_threshold_has_a_larger_f1(examples: list[tuple[bool, float]]) -> None:
    true_N1, found_N1 = (np.array(one)[:, None] for one in zip(*examples, strict=True))
    [best] = metrics.best_thresholds(true_N1, found_N1)

    def f1(threshold: float) -> float:
        return metrics.several_label_scores(["a"], true_N1, found_N1, np.array([threshold])).micro_f1

    assert all(f1(best) >= f1(other) - 1e-12 for other in (0.0, 0.05, 0.15, 0.3, 0.6, 0.8, 0.95))
    # of the first label, taking all three gives 2 * 2 / (3 + 2) = 0.8, more than the first alone
    assert metrics.best_thresholds(TRUE_NC, PROBABILITIES_NC) == pytest.approx([0.15, 0.5])
    assert metrics.best_thresholds(np.zeros((3, 2), bool), PROBABILITIES_NC).tolist() == [0.5, 0.5]
