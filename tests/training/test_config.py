import pytest

from anaphora.errors import ConfigError
from anaphora.training.config import TrainingConfig


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
        {"device": "gpu"},
    ],
)
def test_values_that_make_no_sense_are_refused_with_their_place(table: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="here"):
        TrainingConfig.parse(table, "here")
