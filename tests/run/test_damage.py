"""Whatever happens to a file of a run: it is named and the newest whole checkpoint used, or read as it was written."""

import json
import os
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import AnaphoraError, RunError
from anaphora.events import Event, Note
from anaphora.files import seal
from anaphora.run import Run, Which
from anaphora.run.folder import identity
from anaphora.run.layout import FOLDERS
from anaphora.tasks.runs import load_trained
from tests.faults.damage import KINDS, Damage


def loaded(run: Run, which: Which = "latest", *, for_training: bool = False) -> tuple[int, str]:
    """The update of a checkpoint that is loaded, and all warnings."""
    events: list[Event] = []
    update = run.load(which, events.append, for_training=for_training).update
    assert all(isinstance(event, Note) and event.warning for event in events)
    return update, " ".join(event.text for event in events if isinstance(event, Note))


def using(run: Run, update: int) -> str:
    return f"Using {run.path / 'checkpoints' / f'step-{update}'} instead."


def link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def swap(file: Path) -> None:
    other = file.parent.parent / "step-30" / file.name
    mine, theirs = file.read_bytes(), other.read_bytes()
    file.write_bytes(theirs)
    other.write_bytes(mine)


DAMAGES = [link, pipe, folder, swap, Path.unlink]
"""Those that leave no file, or a whole one that is another; bytes are changed below."""


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"])
def test_damage_is_named_and_the_newest_whole_one_used(run: Run, damage: Callable[[Path], None], name: str) -> None:
    file = run.path / "checkpoints" / "step-40" / name
    damage(file)
    expected = 10 if damage is swap else 30  # a swap damages step 30 too
    update, text = loaded(run, for_training=True)
    assert update == expected and str(file) in text and using(run, expected) in text
    with pytest.raises(RunError, match="step-40"):
        run.load(40, for_training=True)


@pytest.mark.parametrize("pointer", [b"step-20\n", b"", b"\xff\x00", b"../../step-10", b"step-1" * 9, None])
def test_a_best_that_names_no_checkpoint_gives_way_to_the_newest(run: Run, pointer: bytes | None) -> None:
    if pointer is None:
        link(run.path / "best")
    else:
        (run.path / "best").write_bytes(pointer)
    assert loaded(run, "best") == (40, f"{run.path / 'best'} names no checkpoint that is there. {using(run, 40)}")


def test_a_run_whose_checkpoints_are_all_damaged_names_every_fault(run: Run, tmp_path: Path) -> None:
    (run.path / "latest").write_bytes(b"step-10")
    assert run.load("latest").update == 40  # which is a hint for people
    for step in (10, 30, 40):
        (run.path / "checkpoints" / f"step-{step}" / "state.json").write_bytes(b"")
    with pytest.raises(RunError, match=r"no checkpoint that is whole: .*step-40.*step-30.*step-10"):
        run.load("latest")
    with pytest.raises(RunError, match="no checkpoint yet"):
        Run.create(tmp_path / "new", {}, {}).load()


def test_the_optimizer_may_be_left_out_of_a_copy_that_is_not_trained_on(run: Run) -> None:
    (run.path / "checkpoints" / "step-40" / "optimizer.safetensors").unlink()
    assert loaded(run) == (40, "")
    update, text = loaded(run, for_training=True)
    assert update == 30 and text


def test_weights_that_overflow_are_never_loaded(run: Run) -> None:
    run.save(50, {"good": torch.ones(2), "bad": torch.tensor([1.0, -1e20])}, {}, {})
    update, said = loaded(run)
    assert update == 40 and "numbers in bad that are not finite" in said


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_is_a_link_is_refused_and_what_it_names_left_alone(run: Run, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (run.path / "encoded").mkdir()
    (run.path / name).rename(elsewhere)
    (elsewhere / "train").mkdir()
    (elsewhere / "train" / "thesis.txt").write_text("years of work")
    (run.path / name).symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(RunError, match=f"{name} is a symbolic link"):
        Run.open(run.path)
    assert (elsewhere / "train" / "thesis.txt").read_text() == "years of work"


def to_elsewhere(step: Path) -> None:
    step.symlink_to(step.parents[1] / "elsewhere", target_is_directory=True)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("put", "fault"), [(os.mkfifo, "step-40 is missing"), (to_elsewhere, "symbolic link")])
def test_a_checkpoint_that_is_a_pipe_or_a_link_is_passed_over_and_pruned(
    run: Run, save: Callable[[Run, int], Path], put: Callable[[Path], object], fault: str
) -> None:
    step = run.path / "checkpoints" / "step-40"
    step.rename(run.path / "elsewhere")
    put(step)
    update, said = loaded(run)
    assert update == 30 and fault in said
    for update in (50, 60):
        save(run, update)
    assert run.checkpoints() == [10, 50, 60] and not step.exists()
    assert (run.path / "elsewhere" / "state.json").exists()


def test_leftovers_that_are_files_or_links_are_removed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (run.path / "checkpoints" / ".unfinished-a").write_bytes(b"half")
    (run.path / "checkpoints" / ".unfinished-b").symlink_to(tmp_path / "elsewhere")
    run.rewind(40)
    assert not [entry for entry in (run.path / "checkpoints").iterdir() if entry.name.startswith(".")]
    assert (tmp_path / "elsewhere").is_dir()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"files": {"../secret": {"size": 1, "sha256": ""}}}, "does not describe a checkpoint: 'files'"),
        ({"step": 30}, "belongs to step 30, not to step 40"),
    ],
)
def test_a_manifest_is_of_its_step_and_names_its_own_files(run: Run, change: dict[str, Any], sentence: str) -> None:
    path = run.path / "checkpoints" / "step-40" / "manifest.json"
    path.write_text(json.dumps(seal(json.loads(path.read_text()) | change)))
    update, said = loaded(run)
    assert update == 30 and sentence in said


def test_a_checkpoint_of_a_newer_format_is_refused_with_both_numbers(run: Run) -> None:
    path = run.path / "checkpoints" / "step-40" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 9}))
    with pytest.raises(RunError, match=r"step-40.* format 9, but .* up to 2"):
        run.load("latest")


def test_a_copied_folder_works_elsewhere(run: Run, tmp_path: Path) -> None:
    run.path.rename(tmp_path / "moved")
    assert Run.open(tmp_path / "moved", {"train": "ab12"}).load().update == 10


# --- changed bytes


STORED = Path(__file__).parents[1] / "runs" / "format-2"

CHANGES = st.builds(
    Damage,
    st.sampled_from(KINDS),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 7),
    st.binary(min_size=1, max_size=8),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run with two checkpoints, the newer one the best."""
    path = shutil.copytree(STORED, tmp_path_factory.mktemp("damage") / "run")
    run = Run.open(path)
    only = run.load("best")
    run.save(only.update + 1, {name: tensor + 1 for name, tensor in only.model.items()}, {"o": torch.ones(3)}, {"a": 1})
    run.save(only.update + 2, {name: tensor + 2 for name, tensor in only.model.items()}, {"o": torch.ones(3)}, {"a": 2})
    run.mark_best(only.update + 2)
    yield run


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"])
@given(change=CHANGES)
def test_a_changed_checkpoint_file_is_named_and_the_one_before_it_used(stored: Run, name: str, change: Damage) -> None:
    newest = stored.checkpoints()[-1]
    file = stored.path / "checkpoints" / f"step-{newest}" / name
    content = file.read_bytes()
    events: list[Event] = []
    try:
        file.write_bytes(change(content))
        found = stored.load("best", events.append, for_training=True)
    except AnaphoraError as error:  # a manifest may have become one of a later format, which is no damage
        assert str(file) in str(error) and "format" in str(error) and name == "manifest.json"
        return
    finally:
        file.write_bytes(content)
    if found.update == newest:
        # white space, say, between the words of a manifest that is otherwise what it was
        assert change(content) == content or name == "manifest.json"
        assert found.state == {"a": 2} and not events
    else:
        assert found.update == newest - 1 and str(file) in str(events[0])


def tables(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.decode())


@pytest.mark.parametrize("name", ["experiment.toml", "vocabulary/vocabulary.json", "vocabulary/joint", "best"])
@given(change=CHANGES)
def test_a_changed_file_of_the_run_is_named_or_read_as_it_was(stored: Run, name: str, change: Damage) -> None:
    file = stored.path / name
    content = file.read_bytes()
    changed = change(content)
    events: list[Event] = []
    try:
        file.write_bytes(changed)
        model = load_trained(stored.path, report=events.append).model
    except AnaphoraError as error:
        assert Path(name).name in str(error) or "vocabulary" in str(error)
        return
    finally:
        file.write_bytes(content)
    assert model is not None
    if name == "best":
        return  # any checkpoint that it names is whole; where it names none, the newest is used
    if name == "experiment.toml" and identity(tables(changed)) == identity(tables(content)):
        return  # white space, or a bound, which people may change
    assert changed == content or any(file.name in str(event) for event in events)
