"""What an interrupted training leaves: what can be used again, and nothing else."""

from pathlib import Path

import pytest

from anaphora.events import Event, Progress
from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase
from tests.conftest import Trained

from .runs import have_same_weights


def interrupted_at_once() -> bool:
    raise KeyboardInterrupt


def test_an_interruption_before_the_first_update_keeps_what_was_encoded(
    translator: ExperimentBase, trained: Trained, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(translator, tmp_path / "run", stop=interrupted_at_once)
    encoded = {file: file.stat().st_mtime_ns for file in (tmp_path / "run" / "encoded").rglob("*")}
    assert encoded
    train(translator, tmp_path / "run", resume=True)
    assert have_same_weights(tmp_path / "run", trained("translator"))
    assert {file: file.stat().st_mtime_ns for file in encoded} == encoded


@pytest.mark.parametrize("there", ["nothing", "a folder", "a link"])
@pytest.mark.parametrize("beside", [False, True])
def test_a_run_that_is_interrupted_before_it_was_encoded_is_removed_and_nothing_else(
    translator: ExperimentBase, tmp_path: Path, there: str, beside: bool
) -> None:
    run, notes = tmp_path / "run", tmp_path / "run" / "notes"

    def interrupted(event: Event) -> None:
        if isinstance(event, Progress) and event.task.startswith("encoding"):
            if beside:
                notes.write_text("mine\n")
            raise KeyboardInterrupt

    if there == "a link":
        (tmp_path / "disk").mkdir()
        run.symlink_to(tmp_path / "disk", target_is_directory=True)
    elif there == "a folder":
        run.mkdir()
    with pytest.raises(KeyboardInterrupt):
        train(translator, run, interrupted)
    assert run.exists() == (beside or there != "nothing") and run.is_symlink() == (there == "a link")
    assert list(run.glob("*")) == ([notes] if beside else [])
