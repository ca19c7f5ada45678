"""Training that was killed and resumed gives the same bits as if left alone; a damaged or full folder is named."""

from pathlib import Path
from typing import Any

import pytest

from anaphora.run import Run
from tests.faults.tasks import everything

from .conftest import Trainer

SIGKILL = 9


def killed_and_resumed(trainer: Trainer, folder: Path, kill_at: int, **request: Any) -> dict[str, Any]:
    assert trainer(folder=folder, kill_at=kill_at, **request).get("signal") == SIGKILL
    assert "operations" in trainer(folder=folder, **request), f"the run killed at operation {kill_at} did not resume"
    return everything(folder)


def assert_resumes_to_the_same_bits(trainer: Trainer, at: Path, *shares: float, **request: Any) -> dict[str, Any]:
    """Kill trainings after these shares of their file operations; return what one leaves that nothing happened to."""
    operations = trainer(folder=at / "whole" / "run", **request)["operations"]
    expected = everything(at / "whole" / "run")
    for share in shares:
        assert killed_and_resumed(trainer, at / str(share) / "run", round(operations * share), **request) == expected
    return expected


def test_a_killed_training_resumes_to_the_same_bits(trainer: Trainer, tmp_path: Path) -> None:
    left = assert_resumes_to_the_same_bits(trainer, tmp_path, 0.03, 0.35, 0.65, 0.9, 0.999)
    assert left["latest"] == b"step-18\n" and len(left["metrics.jsonl"]) == 18 + 5
    tensors = left["checkpoints/step-18/optimizer.safetensors"]
    assert b"carry/h" in tensors and b"optimizer/exp_avg/embedding.weight" in tensors
    assert b"output.weight" not in tensors  # tied, so kept once
    assert left["checkpoints/step-18/state.json"]["cursor"]["update"] == 18


@pytest.mark.matrix
@pytest.mark.parametrize(
    "training",
    [
        {"optimizer": {"kind": "sgd", "weight_decay": 0.01}, "schedule": {"kind": "halving", "after": 1}},
        {"optimizer": {"kind": "momentum", "nesterov": True}, "schedule": {"kind": "inverse-root", "warmup": 8}},
        {"optimizer": {"kind": "averaged-sgd", "from_epoch": 2}, "schedule": {"kind": "constant", "warmup": 3}},
        {"optimizer": {"kind": "averaged-sgd", "learning_rate": 9.0, "interval": 1}, "reduction": "sum"},
        {"optimizer": {"kind": "sgd", "sparse": True}, "clip_value": 0.05},
        {"optimizer": "lazy-adam", "moving_average": 0.8},
        {"optimizer": "adadelta", "reduction": "sum_per_sentence", "clip_value": 0.05},
        {"optimizer": {"kind": "rmsprop", "momentum": 0.5, "centered": True}, "moving_average": 0.8},
    ],
    ids=lambda training: str(training["optimizer"]),
)
def test_every_rule_resumes_to_the_same_bits(trainer: Trainer, tmp_path: Path, training: dict[str, Any]) -> None:
    assert_resumes_to_the_same_bits(trainer, tmp_path, 0.4, 0.8, training=training)


def test_a_training_that_diverged_and_went_back_resumes_to_the_same_bits(trainer: Trainer, tmp_path: Path) -> None:
    fragile = {"optimizer": {"kind": "sgd", "learning_rate": 2.0}, "schedule": "constant", "skip_limit": 2}
    request = {"training": fragile | {"validate_every": 5, "save_every": 0}, "fragile": 1.6}
    left = assert_resumes_to_the_same_bits(trainer, tmp_path, 0.3, 0.55, 0.8, **request)
    cursor = left["checkpoints/step-18/state.json"]["cursor"]
    assert cursor["fallbacks"] >= 1
    assert cursor["rate_factor"] == 0.5 ** cursor["fallbacks"]


def test_a_training_killed_again_and_again_ends_as_one_left_alone(trainer: Trainer, tmp_path: Path) -> None:
    expected = assert_resumes_to_the_same_bits(trainer, tmp_path)
    folder, kills = tmp_path / "run", 0
    while trainer(folder=folder, kill_at=130).get("signal") == SIGKILL:
        kills += 1
    assert kills >= 3
    assert everything(folder) == expected
    trainer(folder=folder)
    assert everything(folder) == expected


@pytest.mark.parametrize("bound", [{"epochs": 1}, {"minutes": 1e-9}], ids=str)
@pytest.mark.parametrize(
    "training",
    [
        {"optimizer": {"kind": "sgd", "learning_rate": 9.0}, "schedule": {"kind": "plateau", "patience": 1}},
        {"optimizer": {"kind": "averaged-sgd", "learning_rate": 9.0, "interval": 1}, "schedule": "constant"},
    ],
    ids=["plateau", "averaged"],
)
def test_a_bound_that_is_moved_changes_nothing_of_what_follows(
    trainer: Trainer, tmp_path: Path, training: dict[str, Any], bound: dict[str, Any]
) -> None:
    training = training | {"validate_every": 4, "save_every": 0}  # no bound falls on a validation that is due
    whole, parts = tmp_path / "whole" / "run", tmp_path / "parts" / "run"
    trainer(folder=whole, training=training)
    trainer(folder=parts, training=training | bound)
    assert Run.open(parts).checkpoints()[-1] % 4
    trainer(folder=parts, training=training)
    found, expected = (everything(folder) for folder in (parts, whole))
    for kept in (found, expected):
        del kept["checkpoints/step-18/state.json"]["best"]  # of all validations, that at the bound among them
    last = [name for name in expected if name.startswith("checkpoints/step-18/")]
    assert len(last) > 2 and [found[name] for name in last] == [expected[name] for name in last]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_kill_at_any_file_operation_changes_nothing(trainer: Trainer, tmp_path: Path) -> None:
    short = {"epochs": 1, "validate_every": 2}
    operations = trainer(folder=tmp_path / "undisturbed" / "run", training=short)["operations"]
    expected = everything(tmp_path / "undisturbed" / "run")
    for kill_at in range(1, operations + 1):
        folder = tmp_path / str(kill_at) / "run"
        assert killed_and_resumed(trainer, folder, kill_at, training=short) == expected, f"operation {kill_at}"


def test_a_full_disk_leaves_the_checkpoint_before_it_intact_and_says_so(trainer: Trainer, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trainer(folder=folder, training={"epochs": 1})
    before = Run.open(folder).load("latest", for_training=True)
    answer = trainer(folder=folder, file_limit=1200)  # bytes that a file may have: the log fits, the weights do not
    assert answer["error"] == "RunError"
    assert "cannot be written" in answer["message"] and "File too large" in answer["message"]
    run = Run.open(folder)
    after = run.load("latest", for_training=True)
    assert after.update == before.update and after.state == before.state
    assert not [entry for entry in (folder / "checkpoints").iterdir() if not entry.name.startswith("step-")]


def test_training_never_starts_anew_over_checkpoints_that_are_all_damaged(trainer: Trainer, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trainer(folder=folder)
    for step in (folder / "checkpoints").iterdir():
        (step / "model.safetensors").unlink()
    answer = trainer(folder=folder)
    assert answer["error"] == "RunError" and "no checkpoint that is whole" in answer["message"]
