"""What an interrupted training leaves: what can be used again, and nothing else."""

from pathlib import Path

import pytest

from anaphora.events import Event, Progress
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase

from .test_run_training import weights


def interrupted_at_once() -> bool:
    raise KeyboardInterrupt


def test_an_interruption_before_the_first_update_keeps_what_was_encoded(
    translator: ExperimentBase, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(translator, tmp_path / "run", stop=interrupted_at_once)
    encoded = {file: file.stat().st_mtime_ns for file in (tmp_path / "run" / "encoded").rglob("*")}
    assert encoded
    train(translator, tmp_path / "run", resume=True)
    train(translator, tmp_path / "whole")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")
    assert {file: file.stat().st_mtime_ns for file in encoded} == encoded


def interrupted_while_encoding(event: Event) -> None:
    if isinstance(event, Progress) and event.task.startswith("encoding"):
        raise KeyboardInterrupt


def test_what_was_interrupted_before_it_was_encoded_leaves_nothing(translator: ExperimentBase, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(translator, tmp_path / "run", interrupted_while_encoding)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_run_that_is_removed_takes_nothing_else_with_it(
    translator: ExperimentBase, tmp_path: Path, there: bool
) -> None:
    def interrupted_beside_notes(event: Event) -> None:
        if isinstance(event, Progress) and event.task.startswith("encoding"):
            (tmp_path / "run" / "notes").mkdir()
            (tmp_path / "run" / "notes" / "why.txt").write_text("mine\n")
            raise KeyboardInterrupt

    if there:
        (tmp_path / "run").mkdir()
    with pytest.raises(KeyboardInterrupt):
        train(translator, tmp_path / "run", interrupted_beside_notes)
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["notes"]
    assert (tmp_path / "run" / "notes" / "why.txt").read_text() == "mine\n"


def test_an_interrupted_training_leaves_an_empty_folder_where_one_was(
    translator: ExperimentBase, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk", target_is_directory=True)
    with pytest.raises(KeyboardInterrupt):
        train(translator, tmp_path / "run", interrupted_while_encoding)
    assert (tmp_path / "run").is_symlink() and not list((tmp_path / "disk").iterdir())
