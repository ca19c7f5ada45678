import math

import pytest

from anaphora.errors import ConfigError
from anaphora.training.best_checkpoint import BestCheckpoint


def test_only_a_strictly_better_value_is_an_improvement() -> None:
    best = BestCheckpoint("loss", "lower")
    improved = [best.observe({"loss": value}, update) for update, value in enumerate([2.0, 2.0, 1.0, 3.0], 1)]
    assert improved == [True, False, True, False]
    assert (best.update, best.since, best.metrics) == (3, 1, {"loss": 1.0})


@pytest.mark.parametrize(
    ("figures", "improved"),
    [
        ([(0.0, 9.0), (7.0, 9.0), (5.0, 9.0)], [True, True, False]),
        ([(0, 6.0), (0, 5.5), (0, 5.8), (1, 9.0)], [True, True, False, True]),  # of equal ones, that of the lower loss
        ([(0.0, math.inf), (0.0, 5.0), (0.0, math.inf)], [True, True, False]),
    ],
)
def test_higher_may_be_better(figures: list[tuple[float, float]], improved: list[bool]) -> None:
    best = BestCheckpoint("bleu", "higher")
    assert [best.observe({"bleu": bleu, "loss": loss}, 1) for bleu, loss in figures] == improved


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_never_the_best(value: float) -> None:
    best = BestCheckpoint("loss", "lower")
    assert not best.observe({"loss": value}, 1)
    assert best.observe({"loss": 5.0}, 2)
    assert not best.observe({"loss": value}, 3)


def test_a_missing_metric_is_named() -> None:
    with pytest.raises(ConfigError, match=r"training.metric is 'bleu', but validation gives no figures"):
        BestCheckpoint("bleu", "higher").observe({}, 1)
