"""What happens to a training whose folder is damaged, full or taken; in real processes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.run import Run

Trainer = Callable[..., dict[str, Any]]


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


def test_a_training_in_another_process_is_named_until_it_dies(trainer: Trainer, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trainer(folder=folder, training={"epochs": 1})
    with Run.open(folder).lock():
        assert "in use by process" in trainer(folder=folder)["message"]
    assert "operations" in trainer(folder=folder)


def test_the_lock_of_a_killed_process_is_free(trainer: Trainer, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert trainer(folder=folder, kill_at=200) == {"signal": 9}
    with Run.open(folder).lock():
        pass


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"])
def test_training_goes_on_from_the_newest_whole_checkpoint_to_the_same_weights(
    trainer: Trainer, tmp_path: Path, name: str
) -> None:
    trainer(folder=tmp_path / "whole")
    trainer(folder=tmp_path / "damaged")
    newest = tmp_path / "damaged" / "checkpoints" / "step-18"
    expected = {file.name: file.read_bytes() for file in newest.iterdir() if file.suffix == ".safetensors"}
    (newest / name).write_bytes((newest / name).read_bytes()[:-9])
    trainer(folder=tmp_path / "damaged")
    assert {file.name: file.read_bytes() for file in newest.iterdir() if file.suffix == ".safetensors"} == expected


def test_training_never_starts_anew_over_checkpoints_that_are_all_damaged(trainer: Trainer, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trainer(folder=folder)
    for step in (folder / "checkpoints").iterdir():
        (step / "model.safetensors").unlink()
    answer = trainer(folder=folder)
    assert answer["error"] == "RunError" and "no checkpoint that is whole" in answer["message"]
