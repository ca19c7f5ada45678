"""Metrics and thresholds of examples with any number of labels, on cases worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.classification import best_thresholds, several_label_scores

TRUE_NC = np.array([[True, False], [True, True], [False, False]])
PROBABILITIES_NC = np.array([[0.9, 0.2], [0.3, 0.8], [0.4, 0.1]])


def test_metrics_equal_a_case_worked_out_by_hand() -> None:
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
