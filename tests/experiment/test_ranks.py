"""``anaphora train`` on several ranks: one folder, one message, and the bits of one process, whatever the task."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import AskRanks
from tests.faults.tasks import SAMPLES, Sample, everything

TWO = ("--set", "training.micro_batches=2")
FITTED = ("ngram", "align")
"""Samples that are fitted in one go, by the first rank."""


def training(sample: Sample, *more: str) -> list[str]:
    """The command that trains a sample, two batches an update where it has updates."""
    return [*map(str, sample.training()), *(() if sample.name in FITTED else TWO), *more]


def named(name: str) -> Sample:
    return next(sample for sample in SAMPLES if sample.name == name)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the data of the language model, whose state is carried."""
    named("language-model").write(tmp_path / "place")
    return tmp_path / "place"


BOOK = training(named("language-model"))


def said(ask: AskRanks, place: Path, *commands: list[str], **request: Any) -> list[dict[str, Any]]:
    """What each rank says to its command."""
    return ask(ranks=len(commands), commands=commands, at=[place] * len(commands), **request)


FAST = ("language-model", "ngram")
TASKS = [pytest.param(s.name, marks=[] if s.name in FAST else pytest.mark.slow) for s in SAMPLES]


@pytest.mark.parametrize("name", TASKS)
def test_two_ranks_leave_what_one_leaves(ask_ranks: AskRanks, name: str, tmp_path: Path) -> None:
    found = []
    for ranks in (1, 2):
        place = tmp_path / str(ranks) / "place"
        named(name).write(place)
        first, *others = said(ask_ranks, place, *[training(named(name))] * ranks)
        assert first["code"] == 0 and first["out"] == "run\n", first
        assert others == [{"code": 0, "out": "", "err": ""}] * (ranks - 1)
        found.append(everything(place / "run"))
    assert found[0] == found[1]


def test_an_existing_run_is_refused_at_first_and_resumed_by_a_later_start(ask_ranks: AskRanks, place: Path) -> None:
    plain = [*map(str, named("language-model").training())]
    said(ask_ranks, place, plain, plain)
    assert "micro_batches = 2\n" in (place / "run" / "experiment.toml").read_text()  # one for each rank
    whole = everything(place / "run")
    first, second = said(ask_ranks, place, BOOK, BOOK)
    assert first["code"] == second["code"] == 2
    assert "exists and is not empty" in first["err"] and second["err"] == ""
    assert everything(place / "run") == whole
    shutil.rmtree(place / "run")
    said(ask_ranks, place, *[[*BOOK, "--set", "training.epochs=1"]] * 2)
    first, second = said(ask_ranks, place, BOOK, BOOK, restarts=1)
    assert first["code"] == second["code"] == 0, first
    assert everything(place / "run") == whole


@pytest.mark.parametrize(
    ("second", "fault"),
    [
        ([*BOOK, "--set", "training.seed=5"], "training.seed is 1 on rank 0 and 5 on rank 1"),
        ([*BOOK, "--set", "training.seeds=5"], "Rank 1: "),
        ([*BOOK[:3], "other", *BOOK[4:]], "data.files is "),
    ],
    ids=["option", "unknown", "folder"],
)
def test_ranks_that_disagree_are_refused(ask_ranks: AskRanks, place: Path, second: list[str], fault: str) -> None:
    shutil.copytree(place / "data", place / "other")
    first, other = said(ask_ranks, place, BOOK, second)
    assert first["code"] == other["code"] == 2
    assert fault in first["err"] and first["err"].count("anaphora:") == 1 and other["err"] == ""
    assert not (place / "run").exists()


def test_ranks_whose_data_differs_are_refused(ask_ranks: AskRanks, place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    named("language-model").write(other)
    (other / "data" / "val.txt").write_text("something else\n")
    own_data = "/proc/self/cwd/data"  # one path, and a folder of each process
    command = [*BOOK[:3], own_data, "--run", str(tmp_path / "run"), *TWO]
    first, second = ask_ranks(ranks=2, commands=[command, command], at=[place, other])
    assert first["code"] == second["code"] == 2
    assert "the data (valid) is " in first["err"] and second["err"] == ""
    assert not (tmp_path / "run").exists()


def test_a_rank_that_does_not_see_the_run_folder_is_an_error(ask_ranks: AskRanks, place: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    command = ["train", str(place / "experiment.toml"), "--data", str(place / "data"), "--run", "run", *TWO]
    first, second = ask_ranks(ranks=2, commands=[command, command], at=[place, tmp_path / "other"])
    assert first["code"] == second["code"] == 2
    assert "Rank 1: run is not there on " in first["err"] and "on a disk that all machines see" in first["err"]


@pytest.mark.parametrize("resume", [False, True])
def test_ranks_that_cannot_share_the_micro_batches_are_refused(ask_ranks: AskRanks, place: Path, resume: bool) -> None:
    command = [*map(str, named("language-model").training()), "--set", "training.micro_batches=3"]
    if resume:
        said(ask_ranks, place, command)
        command = ["train", "--resume", "--run", "run"]
    first, second = said(ask_ranks, place, command, command)
    assert first["code"] == second["code"] == 2
    assert "3 micro-batches" in first["err"] and second["err"] == ""
    assert (place / "run").exists() == resume


@pytest.mark.slow
def test_torchrun_has_the_message_of_any_rank_whichever_it_ends_first(place: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "--", "anaphora"]
    ended = subprocess.run([*launcher, *BOOK, "--set", "training.seeds=5"], cwd=place, capture_output=True, text=True)
    assert ended.returncode == 1
    summary = ended.stderr.partition("Failures:")[2]
    assert summary.count("traceback : experiment.toml: training.seeds is not an option") == 2, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("machines", "rank"), [(1, 0), (1, 1), (2, 1)])
def test_torchrun_restarts_killed_ranks_to_the_same_bits(place: Path, tmp_path: Path, machines: int, rank: int) -> None:
    """The real launcher, one for each machine: ``torchrun --max-restarts`` starts all ranks again, which resume."""
    longer = [*BOOK, "--set", "training.epochs=40", "--set", "training.patience=0"]
    named("language-model").write(tmp_path / "other" / "place")
    alone = [sys.executable, "-m", "anaphora", *longer]
    subprocess.run(alone, cwd=tmp_path / "other" / "place", check=True, capture_output=True)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(2 // machines)]
    if machines > 1:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            endpoint = f"127.0.0.1:{listening.getsockname()[1]}"
        launcher += ["--nnodes", str(machines), "--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint]
    command = [*launcher, "--max-restarts", "1", "-m", "--", "anaphora", *longer]
    launched = [subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE) for _ in range(machines)]
    try:
        while all(process.poll() is None for process in launched) and not list(place.glob("run/checkpoints/step-*")):
            time.sleep(0.01)
        os.kill([child for process in launched for child in _started(process.pid)][rank], signal.SIGKILL)
        errors = b"".join(process.communicate(timeout=400)[1] for process in launched)
    finally:
        for process in launched:
            process.kill()
    assert [process.returncode for process in launched] == [0] * machines, errors.decode()
    assert b"failed (exitcode: " in errors  # of the killed rank, or of another that ended for want of it
    assert everything(place / "run") == everything(tmp_path / "other" / "place" / "run")


def _started(parent: int) -> list[int]:
    """The processes that a process started, oldest first."""
    return [int(child) for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
