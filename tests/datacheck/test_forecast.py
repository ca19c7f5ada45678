"""Scores to expect, by scores of trainings on subsets of the data."""

from collections.abc import Sequence

import numpy as np
import pytest

from anaphora.datacheck.forecast import SUBSETS, SubsetTraining, expect
from anaphora.evaluation.segments import Better, SegmentMetric, fraction


def trainings(scores: Sequence[float], better: Better = "higher", *, top: float = 100.0) -> list[SubsetTraining]:
    """Trainings on subsets of 4,000 examples; a score is at most ``top``."""
    rows = [np.tile([score, 1.0], (200, 1)) for score in scores]
    metrics = [SegmentMetric("score", counts, fraction, better, top=top) for counts in rows]
    sizes = [int(share * 4000) for share in SUBSETS]
    return [SubsetTraining(size, {"score": one}) for size, one in zip(sizes, metrics, strict=True)]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_power_law_is_continued(better: Better) -> None:
    left = [30 - 24 * n**-0.05 for n in (0.25, 0.5, 1.0, 2.0, 8.0)]
    *measured, double, eightfold = left if better == "higher" else np.exp([1 + 10 / one for one in left]).tolist()
    law = left if better == "higher" else None
    full, twice, more = (expect(trainings(measured, better), "score", n) for n in (4000, 8000, 32000))
    if law:
        assert full.value == pytest.approx(measured[-1]) and twice.value == pytest.approx(double)
        assert more.value == pytest.approx(eightfold)
    assert twice.low < double < twice.high and more.low < eightfold < more.high
    assert more.high - more.low > twice.high - twice.low > full.high - full.low


def test_growth_somewhat_faster_than_in_log_n_is_within_the_interval() -> None:
    *measured, more = (30 + 10 * (n**0.2 - 1) / 0.2 for n in (0.25, 0.5, 1.0, 3.5))
    found = expect(trainings(measured), "score", 14_000)
    straight = measured[-1] + (measured[-1] - measured[0]) * np.log(3.5) / np.log(4)
    assert found.value < straight < more < found.high


def test_more_data_does_no_harm_and_noise_widens_the_interval() -> None:
    falling, steady = trainings([0.7, 0.6, 0.62]), trainings([0.64, 0.64, 0.64])
    full, double = (expect(falling, "score", n) for n in (4000, 8000))
    assert full.value == double.value == pytest.approx(0.64)
    plain = expect(steady, "score", 8000)
    assert double.low < plain.low <= plain.value <= plain.high < double.high


def test_a_score_stays_within_what_is_possible() -> None:
    found = expect(trainings([0.5, 0.9, 0.99], top=1.0), "score", 64_000)
    assert 0 <= found.low <= found.value <= found.high == 1
    assert expect(trainings([0.2, 0.5, 0.9]), "score", 64_000).value > 1  # BLEU of little data
    assert expect(trainings([-1.0, -0.5, 0.0], top=np.inf), "score", 64_000).value > 0  # a log-likelihood
