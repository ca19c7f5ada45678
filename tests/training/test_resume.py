"""Training that was killed and resumed gives the same bits as if left alone; a damaged or full folder is named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.run import Run
from tests.faults.tasks import everything

Trainer = Callable[..., dict[str, Any]]
SIGKILL = 9


def cursor_of(kept: dict[str, Any]) -> dict[str, Any]:
    cursor: dict[str, Any] = kept["checkpoints/step-18/state.json"]["cursor"]
    return cursor


@pytest.fixture(scope="module")
def undisturbed(trainer: Trainer, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int]:
    """What is left by a training that nothing happened to, and the file operations that it took."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    operations = trainer(folder=folder)["operations"]
    return everything(folder), operations


def killed_and_resumed(trainer: Trainer, folder: Path, kill_at: int, **request: Any) -> dict[str, Any]:
    assert trainer(folder=folder, kill_at=kill_at, **request).get("signal") == SIGKILL
    assert "operations" in trainer(folder=folder, **request), f"the run killed at operation {kill_at} did not resume"
    return everything(folder)


def test_the_undisturbed_training_does_all_that_is_tested(undisturbed: tuple[dict[str, Any], int]) -> None:
    expected, _ = undisturbed
    assert expected["latest"] == b"step-18\n" and len(expected["metrics.jsonl"]) == 18 + 5
    tensors = expected["checkpoints/step-18/optimizer.safetensors"]
    assert b"carry/h" in tensors and b"optimizer/exp_avg/embedding.weight" in tensors
    assert b"output.weight" not in tensors  # tied, so kept once
    assert cursor_of(expected)["update"] == 18


@pytest.mark.parametrize("share", [0.03, 0.35, 0.65, 0.9, 0.999])
def test_a_killed_training_resumes_to_the_same_bits(
    trainer: Trainer, undisturbed: tuple[dict[str, Any], int], tmp_path: Path, share: float
) -> None:
    expected, operations = undisturbed
    assert killed_and_resumed(trainer, tmp_path / "run", round(operations * share)) == expected


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
def test_every_rule_and_schedule_resumes_to_the_same_bits(
    trainer: Trainer, tmp_path: Path, training: dict[str, Any]
) -> None:
    operations = trainer(folder=tmp_path / "whole" / "run", training=training)["operations"]
    expected = everything(tmp_path / "whole" / "run")
    for share in (0.4, 0.8):
        folder = tmp_path / str(share) / "run"
        assert killed_and_resumed(trainer, folder, round(operations * share), training=training) == expected


def test_a_training_that_diverged_and_went_back_resumes_to_the_same_bits(trainer: Trainer, tmp_path: Path) -> None:
    fragile = {"optimizer": {"kind": "sgd", "learning_rate": 2.0}, "schedule": "constant", "skip_limit": 2}
    request = {"training": fragile | {"validate_every": 5, "save_every": 0}, "fragile": 1.6}
    operations = trainer(folder=tmp_path / "whole" / "run", **request)["operations"]
    expected = everything(tmp_path / "whole" / "run")
    cursor = cursor_of(expected)
    assert cursor["fallbacks"] >= 1
    assert cursor["rate_factor"] == 0.5 ** cursor["fallbacks"]
    for share in (0.3, 0.55, 0.8):
        folder = tmp_path / str(share) / "run"
        assert killed_and_resumed(trainer, folder, round(operations * share), **request) == expected


def test_a_training_killed_again_and_again_resumes_to_the_same_bits(
    trainer: Trainer, undisturbed: tuple[dict[str, Any], int], tmp_path: Path
) -> None:
    folder, kills = tmp_path / "run", 0
    while trainer(folder=folder, kill_at=130).get("signal") == SIGKILL:
        kills += 1
    assert kills >= 3
    assert everything(folder) == undisturbed[0]


def test_a_finished_training_is_left_as_it_is(
    trainer: Trainer, undisturbed: tuple[dict[str, Any], int], tmp_path: Path
) -> None:
    trainer(folder=tmp_path / "run")
    trainer(folder=tmp_path / "run")
    assert everything(tmp_path / "run") == undisturbed[0]


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
