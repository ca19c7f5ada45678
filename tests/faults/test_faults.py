"""The campaigns find nothing, and find what there is."""

import ast
import io
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import anaphora.formats
from anaphora.run.manifest import read_manifest
from anaphora.tasks.registry import TASKS
from tests.faults import forged, processes, readers, rows
from tests.faults.__main__ import import_all, repeat, run
from tests.faults.damage import KINDS, Damage, drawn
from tests.faults.processes import Fault, checked, forked
from tests.faults.tasks import SAMPLES
from tests.sealing import reseal

STORED = Path(__file__).parents[1] / "runs" / "format-2"
MINUTES = 2.0


@pytest.mark.slow
def test_some_minutes_of_every_campaign_find_nothing() -> None:
    seed = os.environ.get("SEED") or "1"  # make faults draws another one
    import_all()
    assert run(MINUTES, seed, sys.stdout) == 0, f"SEED={seed}"


FAULTY: dict[str, Callable[[], int]] = {
    "hangs": lambda: time.sleep(60) or 0,
    "has a traceback": lambda: 1 // 0,
    "has a traceback ": lambda: len(bytearray(2 * processes.MEMORY)),
    "writes control characters": lambda: print("\x1b[2J", file=sys.stderr) or 0,
    "dies of signal 11": lambda: os.kill(os.getpid(), signal.SIGSEGV) or 0,
    "exits with 7": lambda: 7,
    "executes something": lambda: os.system("true"),
    "executes something ": lambda: socket.create_connection(("localhost", 1)) and 0,
    "complains in no sentence": lambda: 2,
}


@pytest.mark.parametrize("fault", FAULTY)
def test_what_must_never_happen_is_a_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SECONDS", 3.0)
    with pytest.raises(Fault, match=fault.strip()):
        checked(forked(FAULTY[fault]), "it")


def test_a_process_is_killed_before_the_file_operation_that_is_named(tmp_path: Path) -> None:
    def work() -> int:
        os.mkdir(tmp_path / "a")
        os.mkdir(tmp_path / "b")
        return 0

    assert forked(work, kill_at=2).killed and [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_campaign_prints_its_faults_and_what_repeats_them() -> None:
    def trial(random: Random) -> str:
        if random.random() < 0.5:
            raise Fault(f"drew {random.random()}")
        return "luck"

    shown = io.StringIO()
    found = run(0.002, "seed", shown, {"draws": trial})
    first = shown.getvalue().split("TRIAL=")[1].splitlines()
    assert found == shown.getvalue().count("TRIAL=draws:seed:") and "luck" in shown.getvalue()
    with pytest.raises(Fault, match=first[1]):
        repeat(first[0], {"draws": trial})


def test_damage_is_the_same_for_the_same_seed_and_mostly_a_change() -> None:
    content = bytes(range(1, 200))
    changed = [drawn(Random(seed))(content) for seed in range(100)]
    assert changed == [drawn(Random(seed))(content) for seed in range(100)]
    assert all(Damage(kind, 0.5)(content) != content for kind in KINDS)
    assert Damage("flip", 0.5)(b"") == b""


@pytest.mark.parametrize("kind", [*forged.TENSORS, *forged.JSON])
def test_forged_files_are_others_behind_checksums_that_fit(kind: str, tmp_path: Path) -> None:
    run = shutil.copytree(STORED, tmp_path / "run")
    name = "vocabulary/vocabulary.json" if kind in forged.JSON else "checkpoints/*/model.safetensors"
    [file] = run.glob(name)
    before = file.read_bytes()
    {**forged.TENSORS, **forged.JSON}[kind](Random(1), file)
    reseal(run)
    assert file.read_bytes() != before
    [manifest] = run.glob("checkpoints/*/manifest.json")
    assert read_manifest(manifest.parent).files["model.safetensors"].size == len(
        next(run.glob("checkpoints/*/model.safetensors")).read_bytes()
    )


def test_every_task_has_a_sample_and_odd_rows() -> None:
    assert {one.experiment.splitlines()[0] for one in SAMPLES} == {f"task = '{task}'" for task in TASKS}
    assert {one.task for one in rows.FORMATS} == TASKS.keys()


def test_every_reader_of_a_format_is_tried() -> None:
    tried = ast.parse(Path(readers.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tried) if isinstance(node, ast.ImportFrom)}
    for file in Path(anaphora.formats.__path__[0]).glob("*.py"):
        code = ast.parse(file.read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(code) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if any(name.startswith(("read", "parse", "ArrayFile")) and not name.startswith("parsed") for name in names):
            assert f"anaphora.formats.{file.stem}" in imported or file.stem == "tagged"
