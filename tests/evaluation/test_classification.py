"""The metrics of classifiers, on cases worked out by hand."""

import numpy as np
import pytest

from anaphora.evaluation.classification import classification_scores


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
