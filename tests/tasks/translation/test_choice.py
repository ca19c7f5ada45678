"""Minimum Bayes risk, by hand."""

from math import inf, log

import pytest
from sacrebleu.metrics.chrf import CHRF

from anaphora.tasks.translation.translation import expected_chrf, probabilities


def test_the_expected_chrf_is_the_weighted_mean_over_all_texts() -> None:
    texts, weights = ["the man walks", "the man walked", "a dog"], [0.5, 0.3, 0.2]
    found = expected_chrf(texts, weights)
    for text, gain in zip(texts, found, strict=True):
        scores = [CHRF().sentence_score(text, [other]).score for other in texts]
        assert gain == pytest.approx(sum(w * s for w, s in zip(weights, scores, strict=True)))
    # the text that is most like the others wins over the most probable one
    assert expected_chrf(["a dog", "the man walks", "the man walked"], [0.4, 0.3, 0.3])[0] < max(
        expected_chrf(["a dog", "the man walks", "the man walked"], [0.4, 0.3, 0.3])[1:]
    )


def test_empty_texts_have_a_risk_too() -> None:
    assert expected_chrf(["", "a"], [1.0, 1.0]) == pytest.approx([0.0, 50.0], abs=1e-6)


def test_probabilities_are_those_of_the_scores() -> None:
    first, second, third = probabilities([log(0.1), log(0.2), -inf])
    assert second == 1.0 and first == pytest.approx(0.5) and third == 0.0
    assert probabilities([-inf, -inf]) == [1.0, 1.0]
    assert probabilities([-2000.0, -2001.0])[1] > 0
