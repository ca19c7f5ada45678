"""Whatever a state.json says, training goes on as it was saved or names the file."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from anaphora.files import DamagedError
from anaphora.run import Run
from anaphora.training.state import SavedState

from .conftest import Trainer

BEST = {"update": 4, "metrics": {"loss": 1.5}, "since": 1}
STATE = {
    "cursor": {"update": 8, "epoch": 2, "position": 2, "epoch_of_update": 2, "skipped": 0, "skipped_in_row": 0},
    "schedule": {"rate": 0.02, "waited": 0},
    "best": BEST,
    "seconds": 4.5,
}
OTHERS = [None, True, -1, 1.5, "8", [], {}, 10**400, float("nan"), float("inf")]


def places(table: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    inner = [
        place for name, value in table.items() if isinstance(value, dict) for place in places(value, (*path, name))
    ]
    return [*((*path, name) for name in table), *inner]


def changed(path: tuple[str, ...], value: object) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(json.dumps(STATE))
    here = table
    for name in path[:-1]:
        here = here[name]
    here[path[-1]] = value
    return table


@pytest.mark.parametrize("path", places(STATE), ids=".".join)
def test_any_other_value_means_a_training_or_is_refused_by_its_key(path: tuple[str, ...]) -> None:
    for value in OTHERS:
        try:
            saved = SavedState.parse(changed(path, value), 8, "loss", Path("state.json"))
        except DamagedError as error:
            assert "state.json" in str(error) and (path[0] in str(error) or path[-1] in str(error))
        else:
            assert (path[-1], value) in [("rate", 1.5), ("rate_factor", 1.5), ("seconds", 1.5), ("loss", 1.5)] or (
                value is None or value in ({}, 1.5, -1)
            )
            assert saved.cursor.update == 8


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("cursor", "update"), 7, "describes update 7, but was saved after update 8"),
        (("cursor", "rate_factor"), 0.0, r"'cursor\.rate_factor': input should be greater than 0"),
        (("best", "update"), 9, "'best' should be a validation up to update 8"),
        (("best", "metrics"), {"bleu": 3.0}, "with loss, but is of update 4 with bleu"),
        (("seconds",), "4", "'seconds': input should be a valid number"),
    ],
)
def test_what_cannot_be_is_said(path: tuple[str, ...], value: object, message: str) -> None:
    with pytest.raises(DamagedError, match=message):
        SavedState.parse(changed(path, value), 8, "loss", Path("state.json"))


def test_a_training_never_goes_on_from_where_it_cannot_have_been(trainer: Trainer, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trainer(folder=folder, training={"epochs": 1})
    run = Run.open(folder)
    last = run.load("latest", for_training=True)
    for change, message in (
        ({"position": 6}, "should continue at update 7 of epoch .*, but that has only 6"),
        ({"update": 3}, r"state\.json describes update 3, but was saved after update"),
    ):
        state = json.loads(json.dumps(dict(last.state)))
        state["cursor"] |= change
        run.save(last.update, last.model, last.optimizer, state)
        assert re.search(message, trainer(folder=folder)["message"])
