import math
from pathlib import Path

import pytest

from anaphora.errors import ConfigError
from anaphora.training.best_checkpoint import BestCheckpoint, SavedBest


def test_only_a_strictly_better_value_is_an_improvement() -> None:
    best = BestCheckpoint("loss", "lower")
    assert [best.observe({"loss": value}, update) for update, value in enumerate([2.0, 2.0, 1.0, 3.0], 1)] == [
        True,
        False,
        True,
        False,
    ]
    assert (best.update, best.since, best.metrics) == (3, 1, {"loss": 1.0})


def test_higher_may_be_better() -> None:
    best = BestCheckpoint("bleu", "higher")
    assert [best.observe({"bleu": value}, 1) for value in (0.0, 7.0, 5.0)] == [True, True, False]


def test_of_equal_figures_that_of_the_lower_loss_is_better() -> None:
    best = BestCheckpoint("bleu", "higher")
    found = [best.observe({"bleu": bleu, "loss": loss}, 1) for bleu, loss in ((0, 6.0), (0, 5.5), (0, 5.8), (1, 9.0))]
    assert found == [True, True, False, True]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_never_the_best(value: float) -> None:
    best = BestCheckpoint("loss", "lower")
    assert not best.observe({"loss": value}, 1)
    assert best.observe({"loss": 5.0}, 2)
    assert not best.observe({"loss": value}, 3)


def test_any_loss_is_lower_than_an_infinite_one() -> None:
    best = BestCheckpoint("bleu", "higher")
    assert best.observe({"bleu": 0.0, "loss": math.inf}, 1)
    assert best.observe({"bleu": 0.0, "loss": 5.0}, 2)
    assert not best.observe({"bleu": 0.0, "loss": math.inf}, 3)


def test_a_restored_count_goes_on() -> None:
    best, restored = BestCheckpoint("loss", "lower"), BestCheckpoint("loss", "lower")
    best.observe({"loss": 1.0, "perplexity": 2.7}, 4)
    best.observe({"loss": 2.0}, 8)
    restored.restore(SavedBest.from_table(best.state(), Path(), "a validation"))
    assert restored.state() == best.state()
    assert not restored.observe({"loss": 1.5}, 12) and restored.since == 2


def test_a_missing_metric_is_named() -> None:
    with pytest.raises(ConfigError, match=r"training.metric is 'bleu', but validation gives no figures"):
        BestCheckpoint("bleu", "higher").observe({}, 1)
