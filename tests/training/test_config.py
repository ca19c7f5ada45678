import pytest

from anaphora.errors import ConfigError
from anaphora.training.config import TrainingConfig
from anaphora.training.rules import AveragedSgd, Momentum
from anaphora.training.schedule import Halving


def test_published_recipes_can_be_written_down() -> None:
    zaremba = {"optimizer": "sgd", "schedule": "halving", "reduction": "sum_per_sentence", "clip_norm": 5.0}
    assert TrainingConfig.parse(zaremba, "here").schedule == Halving(after=4, factor=0.5)
    merity = {"optimizer": {"kind": "averaged-sgd", "learning_rate": 30.0, "weight_decay": 1.2e-6}}
    assert TrainingConfig.parse(merity, "here").optimizer == AveragedSgd(
        learning_rate=30.0, weight_decay=1.2e-6, interval=5
    )
    nesterov = {"optimizer": {"kind": "momentum", "nesterov": True}}
    assert TrainingConfig.parse(nesterov, "here").optimizer == Momentum(nesterov=True)


@pytest.mark.parametrize(
    "table",
    [
        {"optimiser": "adam"},
        {"optimizer": {"kind": "momentum", "momentum": 0.0}},
        {"optimizer": {"learning_rate": 0}},
        {"optimizer": {"betas": [0.9, 1.0]}},
        {"epochs": 0},
        {"moving_average": 1.0},
        {"moving_average": 0.999, "optimizer": "averaged-sgd"},
        {"minutes": float("inf")},
    ],
)
def test_values_that_make_no_sense_are_refused_with_their_place(table: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="here"):
        TrainingConfig.parse(table, "here")
