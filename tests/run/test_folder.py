import errno
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from anaphora.errors import RunError
from anaphora.events import Event
from anaphora.files import write_durably
from anaphora.run import Run
from anaphora.run.folder import set_bounds
from anaphora.run.layout import FolderLock, check_free

Save = Callable[[Run, int], Path]


# --- making and opening


def test_an_experiment_comes_back_as_it_was_given(tmp_path: Path) -> None:
    experiment = {"task": "toy", "text": {"lowercase": True, "size": 10}, "training": {"rate": 1e-3, "name": 'ein "ß"'}}
    assert Run.create(tmp_path / "run", experiment, {}).experiment == experiment
    assert Run.open(tmp_path / "run").experiment == experiment
    assert (tmp_path / "run" / "experiment.toml").read_text().startswith("format = 2\n")


def test_an_empty_folder_may_be_a_link_or_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk", target_is_directory=True)
    monkeypatch.chdir(tmp_path / "run")
    Run.create(Path("."), {"task": "toy"}, {})
    assert Run.open(Path(".")).experiment == Run.open(tmp_path / "run").experiment == {"task": "toy"}
    assert {entry.name for entry in (tmp_path / "disk").iterdir()} == {"experiment.toml", "vocabulary", "checkpoints"}


def test_a_folder_with_anything_in_it_is_never_taken(tmp_path: Path) -> None:
    (letter := tmp_path / "letter.txt").write_text("dear")
    for path in (tmp_path, letter):
        with pytest.raises(RunError, match="exists and is not empty"):
            Run.create(path, {}, {})
    with pytest.raises(RunError, match="is a file"):
        Run.open(letter)
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter.txt"]


def test_a_run_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        Run.create(tmp_path / "file" / "run", {}, {})
    with pytest.raises(TypeError):
        Run.create(tmp_path / "run", {"none": None}, {})
    with pytest.raises(RunError, match="should be UTF-8"):
        check_free(tmp_path / "\udcff")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(RunError, match="no permission to write in"):
        check_free(tmp_path / "new" / "run")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "nothing is there: check the path, or train it first"),
        ({}, "is empty: check the path, or train it first"),
        ({"letter.txt": b"dear"}, "has no experiment.toml"),
        ({"experiment.toml": b"format = 2\ntask = "}, "experiment.toml is damaged"),
        ({"experiment.toml": b"format = 2\ntask = '\xff'"}, "experiment.toml is damaged"),
        ({"experiment.toml": b"x = " + b"[" * 100_000}, "experiment.toml is damaged"),
        ({"experiment.toml": b""}, "should name its format"),
        ({"experiment.toml": b"format = true"}, "should name its format"),
        ({"experiment.toml": b"format = 7"}, r"has format 7, but .* reads up to 2: upgrade"),
        ({"experiment.toml": b"format = 1"}, "no folder vocabulary"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, content: dict[str, bytes] | None, sentence: str) -> None:
    path = tmp_path / "run"
    if content is not None:
        path.mkdir()
        for name, text in content.items():
            (path / name).write_bytes(text)
    with pytest.raises(RunError, match=sentence):
        Run.open(path)


# --- saving


def test_a_checkpoint_comes_back_as_it_was_saved(run: Run) -> None:
    found = run.load("latest", for_training=True)
    assert (found.update, found.state) == (40, {"update": 40, "rate": 0.1})
    assert (found.model["layer.weight"] == 40).all()
    assert found.optimizer["optimizer/exp_avg/layer.bias"].tolist() == torch.full((3,), 40 / 3).tolist()
    assert set(found.optimizer) == {"optimizer/exp_avg/layer.bias", "carry/h"}


def test_the_best_and_as_many_of_the_newest_as_training_asks_for_are_kept(run: Run, save: Save) -> None:
    assert run.checkpoints() == [10, 30, 40]
    run.mark_best(40)
    save(run, 50)
    assert run.checkpoints() == [40, 50]
    run.kept = 3
    for update in (60, 70, 80):
        save(run, update)
    assert run.checkpoints() == [40, 60, 70, 80]
    run.kept = 1
    run.rewind(80)
    assert run.checkpoints() == [40, 80]


def test_best_and_latest_are_one_line_texts(run: Run) -> None:
    assert (run.path / "best").read_text() == "step-10\n"
    assert (run.path / "latest").read_text() == "step-40\n"
    assert (run.load("best").update, run.load("latest").update, run.load(30).update) == (10, 40, 30)
    with pytest.raises(RunError, match="no checkpoint of update 20; it has 10, 30, 40"):
        run.load(20)
    with pytest.raises(RunError, match="has no average; it has 10, 30, 40"):
        run.load("average")
    with pytest.raises(RunError, match="no checkpoint of update 20 to mark"):
        run.mark_best(20)
    (run.path / "best").unlink()
    events: list[Event] = []
    assert run.load("best", events.append).update == 40 and events == []


def test_the_manifest_says_what_the_checkpoint_is_and_where_it_was_made(run: Run) -> None:
    manifest = json.loads((run.path / "checkpoints" / "step-40" / "manifest.json").read_text())
    assert (manifest["format"], manifest["step"]) == (2, 40)
    assert {"experiment.toml", "data/train", "vocabulary/vocabulary.json"} <= set(manifest["fingerprints"])
    environment = manifest["environment"]
    assert environment["threads"] == torch.get_num_threads() and environment["torch"] == torch.__version__
    assert environment["precision"] == "float32" and environment["processor"]


# --- what belongs together


def test_a_vocabulary_that_the_weights_were_not_trained_with_is_named(run: Run) -> None:
    (run.path / "vocabulary" / "vocabulary.json").write_text('{"sides": {"text": {}}}')
    with pytest.raises(RunError, match=r"step-40 was trained with another vocabulary/vocabulary.json"):
        Run.open(run.path).load("latest")


def test_what_changed_since_a_checkpoint_is_listed_and_an_experiment_is_pointed_out(run: Run) -> None:
    checkpoint = run.load("latest")
    assert run.changed_fingerprints(checkpoint) == []
    assert Run.open(run.path, {"train": "cd34", "valid": "ef"}).changed_fingerprints(checkpoint) == [
        "data/train",
        "data/valid",
    ]
    file = run.path / "experiment.toml"
    file.write_text(file.read_text().replace("0.99", "0.98"))
    events: list[Event] = []
    assert Run.open(run.path).load("latest", events.append).update == 40
    assert "experiment.toml was changed after step-40" in str(events[0])


def test_rewinding_drops_what_came_later(run: Run) -> None:
    for update in (10, 30, 35):
        run.metrics.append({"update": update})
    run.rewind(30)
    assert run.checkpoints() == [10, 30]
    assert run.metrics.lines() == [{"update": 10}, {"update": 30}]
    assert (run.path / "latest").read_text() == "step-30\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused_in_a_sentence(run: Run, save: Save) -> None:
    (run.path / "lock").unlink()
    run.path.chmod(0o555)
    try:
        with pytest.raises(RunError, match="cannot be written to: Permission denied"):
            save(run, 50)
    finally:
        run.path.chmod(0o755)


def test_a_failed_checkpoint_leaves_others_and_nothing_of_it(
    run: Run, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_weights(path: Path, content: bytes) -> None:
        if path.name == "model.safetensors":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        write_durably(path, content)

    folder = run.path / "checkpoints"
    sentence = f"The checkpoint of update 50 cannot be written into {folder}: Permission denied; step-40 is intact"
    with monkeypatch.context() as patch, pytest.raises(RunError, match=re.escape(sentence)):
        patch.setattr("anaphora.run.checkpoint.write_durably", refuse_weights)
        save(run, 50)
    assert sorted(entry.name for entry in folder.iterdir()) == ["step-10", "step-30", "step-40"]
    assert run.load("latest", for_training=True).update == 40
    save(run, 50)
    assert run.load("latest").update == 50


def test_a_checkpoint_that_cannot_be_replaced_stays_as_it_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rename, refusing = os.rename, iter([True])

    def refuse(source: Path, target: Path) -> None:
        if target.name == "step-40" and next(refusing, False):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(source, target)

    before = run.load(40, for_training=True)
    with monkeypatch.context() as patch, pytest.raises(RunError, match="Input/output error; step-40 is intact"):
        patch.setattr("os.rename", refuse)
        run.save(40, {"w": torch.ones(1)}, {}, {"again": True})
    assert run.load(40, for_training=True).state == before.state
    assert not [entry for entry in (run.path / "checkpoints").iterdir() if entry.name.startswith(".")]
    run.save(40, {"w": torch.ones(1)}, {}, {"again": True})
    assert run.load("latest").state == {"again": True} and run.checkpoints() == [10, 30, 40]


# --- going on with other bounds


def test_bounds_may_change_without_a_word_and_are_written_beside_all_else(run: Run) -> None:
    latest, events, before = run.load("latest"), list[Event](), run.experiment
    set_bounds(run, {"task": "other", "training": {"epochs": 4, "minutes": 7.5, "betas": []}}, latest)
    reopened = Run.open(run.path)
    for opened in (run, reopened):
        assert opened.experiment == before | {"training": before["training"] | {"epochs": 4, "minutes": 7.5}}
    assert reopened.format == run.format
    assert reopened.load("latest", events.append).update == 40 and not events
    assert run.changed_fingerprints(latest) == Run.open(run.path, {"train": "ab12"}).changed_fingerprints(latest) == []


def test_a_checkpoint_that_knows_its_experiment_by_the_bytes_of_the_file_keeps_it(run: Run, save: Save) -> None:
    content, events = (run.path / "experiment.toml").read_bytes(), list[Event]()
    run.fingerprints["experiment.toml"] = hashlib.sha256(content).hexdigest()
    save(run, 50)
    reopened = Run.open(run.path, {"train": "ab12"})
    older = reopened.load("latest", events.append)
    assert older.update == 50 and not events
    assert reopened.changed_fingerprints(older) == []
    set_bounds(reopened, {"training": {"epochs": 4}}, older)
    assert (run.path / "experiment.toml").read_bytes() == content


# --- one process at a time


def test_the_holder_may_enter_again_and_a_second_is_refused_with_its_number(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with lock.hold():
        with lock.hold():
            pass
        with pytest.raises(RunError, match=f"in use by process {os.getpid()},"):
            FolderLock(tmp_path).hold().__enter__()


def test_a_lock_is_free_after_its_holder_left_by_an_error(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(ZeroDivisionError), lock.hold():
        raise ZeroDivisionError
    with FolderLock(tmp_path).hold(), pytest.raises(RunError), lock.hold():
        pass


def test_a_file_system_without_locks_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", Mock(side_effect=OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))))
    with pytest.raises(RunError, match="cannot be locked against other processes"):
        FolderLock(tmp_path).hold().__enter__()


def test_a_full_disk_does_not_keep_the_holder_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.pwrite", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    with FolderLock(tmp_path).hold(), pytest.raises(RunError, match="in use by process unknown"):
        FolderLock(tmp_path).hold().__enter__()
    with FolderLock(tmp_path).hold():
        pass
