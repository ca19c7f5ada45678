"""Only a checkpoint that cannot be written ends training; what is around it warns, and nothing lost is revived."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from anaphora.errors import RunError
from anaphora.events import Event, Note
from anaphora.files import part_of
from anaphora.run import Run
from anaphora.run.layout import check_free

Save = Callable[[Run, int], Path]


def saved(run: Run, update: int) -> list[str]:
    """The warnings of a save that succeeds."""
    events: list[Event] = []
    run.save(update, {"w": torch.full((2,), float(update))}, {}, {"update": update}, report=events.append)
    assert run.load(update, for_training=True).state == {"update": update}
    return [event.text for event in events if isinstance(event, Note) and event.warning]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("os.rename", "checkpoints/step-30"),
        ("os.replace", ".part"),
        ("anaphora.run.logs.sync", "metrics.jsonl"),
        ("shutil.rmtree", ".unfinished-left"),
    ],
    ids=["pruning", "latest", "log", "leftovers"],
)
def test_failures_around_a_save_are_warnings(run: Run, monkeypatch: pytest.MonkeyPatch, place: str, name: str) -> None:
    run.metrics.append({"update": 50})
    if name.startswith("."):  # of a killed process; no name that this save makes begins so, since they are hexadecimal
        (run.path / "checkpoints" / name).mkdir()
    module, _, function = place.rpartition(".")
    original = getattr(sys.modules[module], function)

    def refuse(path: Path, *rest: object, **options: object) -> object:
        if name in str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[module], function, refuse)
        [warning] = saved(run, 50)
    assert str(run.path) in warning and "Permission denied" in warning and "Checkpoints are whole" in warning
    assert saved(run, 60) == []
    assert run.checkpoints() == [10, 50, 60]
    assert (run.path / "latest").read_text() == "step-60\n"
    assert not list((run.path / "checkpoints").glob(".unfinished*"))


def test_a_log_or_a_card_that_cannot_be_written_is_one_warning(run: Run) -> None:
    events: list[Event] = []
    run.metrics.path.mkdir()
    for update in (1, 2):
        run.metrics.add({"update": update}, events.append)
    assert "metrics.jsonl cannot be written to" in str(events) and len(events) == 1
    run.metrics.path.rmdir()
    for update in (3, 4):
        run.metrics.add({"update": update}, events.append)
    assert run.metrics.lines() == [{"update": 3}, {"update": 4}] and len(events) == 1
    (run.path / "card.md").mkdir()
    run.write_card({"loss": 1.5}, events.append)
    assert "card.md cannot be written" in str(events[1:]) and len(events) == 2


@pytest.mark.parametrize("name", ["experiment.toml", "vocabulary", "vocabulary/vocabulary.json", ""])
def test_a_run_that_lost_what_it_needs_is_not_saved_and_nothing_revived(run: Run, save: Save, name: str) -> None:
    path = run.path / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    before = sorted(run.path.rglob("*"))
    with pytest.raises(RunError, match="cannot be written to" if not name else "was removed while training went on"):
        save(run, 50)
    assert sorted(run.path.rglob("*")) in (before, sorted([*before, run.path / "lock"]))
    assert name or not run.path.exists()


@pytest.fixture
def dead() -> int:
    """The number of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def left_by(process: int, path: Path) -> Path:
    return path.with_name(part_of(path).name.replace(f".{os.getpid()}.", f".{process}."))


def test_the_next_that_holds_the_lock_removes_what_killed_writers_left(run: Run, dead: int) -> None:
    (run.path / "encoded").mkdir()
    left = [left_by(dead, run.path / name) for name in ("latest", "card.md")]
    folders = [left_by(dead, run.path / "encoded" / "train"), run.path / "encoded" / f".train.{dead}.part"]
    alive = left_by(os.getppid(), run.path / "best")
    for file in (*left, alive, run.path / f".best.{dead}.new"):
        file.write_bytes(b"half")
    for folder in folders:
        folder.mkdir()
        (folder / "source.ids").write_bytes(b"half")
    with Run.open(run.path).lock():
        hidden = [entry for entry in run.path.rglob(".*") if "checkpoints" not in entry.parts]
    assert hidden == [alive]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_a_run_that_was_killed_while_it_was_made_is_made_again(tmp_path: Path, dead: int, moved: int) -> None:
    for path in (tmp_path / "new", tmp_path / "empty"):
        Run.create(path, {"task": "toy"}, {})
        if path.name == "empty":
            inside = path / left_by(dead, path).name
            inside.mkdir()
            names = ("checkpoints", "vocabulary", "experiment.toml")
            for name in names[moved:]:
                (path / name).rename(inside / name)
            for name in ("card.md", "lock"):
                (path / name).unlink(missing_ok=True)
        else:
            path.rename(left_by(dead, path))
        check_free(path)
        assert Run.create(path, {"task": "toy"}, {}).experiment == {"task": "toy"}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["empty", "new"]


def test_what_a_living_process_is_making_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / left_by(os.getppid(), path).name).mkdir()
    with pytest.raises(RunError, match="is not empty"):
        check_free(path)
