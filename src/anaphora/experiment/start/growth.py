"""The experiment of a run that learns a little more than an older one: few and small updates, old pairs replayed."""

from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.task import Table

_REPLAY = 0.5
_RATE = 0.1
_SMALL = {
    "schedule": {"kind": "linear"},
    "moving_average": 0.95,  # the weights themselves lose a point of BLEU on old pairs here and there
    "epochs": 20,
    "validate_every": 60,
    "patience": 2,
    "metric": "loss",
}


def usual_replay(older: ExperimentBase) -> float:
    """The fraction of old pairs in a batch where nobody says one; 0 for a run whose data cannot be replayed."""
    return _REPLAY if older.to_grow().replays else 0.0


def growing(older: ExperimentBase) -> Table:
    """The experiment of ``older`` with small updates, unless it has them since it started so itself."""
    if older.start.replay or not older.to_grow().replays:
        return older.tables()
    table = older.to_grow().tables()
    table["training"] |= _SMALL
    table["training"]["optimizer"]["learning_rate"] *= _RATE
    if table["training"]["optimizer"]["kind"] == "averaged-sgd":  # which averages by itself
        table["training"]["moving_average"] = 0.0
    table["evaluation"]["validation_beam"] = 1  # outputs are searched for BLEU alone
    return table
