"""A person at a terminal, and training whose output nobody can read any more, in real processes."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anaphora.events import Event, LastingReport, Note, Update

from ..conftest import Trained

SECONDS = 60


class Terminal:
    """What a person sees and types."""

    def __init__(self, descriptor: int, process: subprocess.Popen[bytes]) -> None:
        self._descriptor, self.process, self.seen = descriptor, process, ""

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read on until ``text`` was seen so often."""
        until = time.monotonic() + SECONDS
        while self.seen.count(text) < times:
            assert select.select([self._descriptor], [], [], max(0.0, until - time.monotonic()))[0], self.seen
            self.seen += os.read(self._descriptor, 4096).decode()


@contextmanager
def terminal(home: Path, *arguments: str) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    environment = os.environ | {"HOME": str(home), "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-m", "anaphora", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        try:
            yield Terminal(ours, process)
        finally:
            process.kill()
            os.close(ours)


@pytest.mark.parametrize("verb", ["generate", pytest.param("translate", marks=pytest.mark.slow)])
def test_typed_lines_are_answered_one_by_one_until_ctrl_d(verb: str, trained: Trained, tmp_path: Path) -> None:
    run, home = str(trained("counts" if verb == "generate" else "translator")), tmp_path / "home"
    home.mkdir()
    with terminal(home, verb, run) as person:
        person.wait_for("> ")
        person.type("line\n")
        person.wait_for("> ", times=2)
        asked, answer, again = person.seen.replace("\r", "").split("\n")
        assert asked.endswith("> line") and answer and again.endswith("> ")
        person.type("linX\x7fe\n")  # the line is edited
        person.wait_for("> ", times=3)
        person.wait_for(f"\n{answer}\r\n", times=2 if verb == "translate" else 1)
        person.type("\x04")
        assert person.process.wait(SECONDS) == 0
    assert not list(home.iterdir())


COMMAND = [sys.executable, "-m", "anaphora", "train"]
SETTINGS = ["--set", "training.patience=0", "--set", "training.validate_every=20"]


def command(recipe: Path, data: Path, run: Path, epochs: int) -> list[str]:
    begun = [*COMMAND, str(recipe), "--data", str(data), "--target", "fr", "--run", str(run)]
    return [*begun, *SETTINGS, "--set", f"training.epochs={epochs}"]


def notes(run: Path) -> list[str]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["note"] for line in lines if "note" in line]


def weights(run: Path) -> bytes:
    return (run / "checkpoints" / (run / "latest").read_text().strip() / "model.safetensors").read_bytes()


@pytest.fixture
def whole(toy_pairs: Path, tiny_translator: Path, tmp_path: Path) -> Path:
    """What the training gives that everybody can read."""
    run = tmp_path / "whole"
    subprocess.run(command(tiny_translator, toy_pairs, run, 40), check=True, capture_output=True)
    return run


def pipe_without_a_reader() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stderr", "stdout"])
@pytest.mark.parametrize("kind", ["full", "closed"])
def test_a_training_outlives_its_streams(
    stream: str, kind: str, whole: Path, toy_pairs: Path, tiny_translator: Path, tmp_path: Path
) -> None:
    if kind == "full" and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    run = tmp_path / "run"
    lost = os.open("/dev/full", os.O_WRONLY) if kind == "full" else pipe_without_a_reader()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: lost}
    done = subprocess.run(command(tiny_translator, toy_pairs, run, 40), check=False, **streams)  # type: ignore[call-overload]
    os.close(lost)
    assert weights(run) == weights(whole) and (run / "best").read_text() == (whole / "best").read_text()
    assert bool(notes(run)) == (stream == "stderr")
    if stream == "stderr":
        assert done.returncode == 0


@pytest.mark.slow
def test_a_closed_terminal_is_a_signal_to_save(toy_pairs: Path, tiny_translator: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has what it starts ignore it
        os.execv(sys.executable, command(tiny_translator, toy_pairs, run, 100_000))
    said = b""
    while b"validation loss" not in said:
        said += os.read(terminal, 4096)
    os.close(terminal)  # the kernel sends SIGHUP, and every write fails from now on
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    assert (run / "latest").exists()
    resumed = [*COMMAND, "--resume", "--run", str(run), "--time", "1s"]
    subprocess.run(resumed, check=True, capture_output=True)


def update(number: int) -> Update:
    return Update(number, 1, number, 9, 1, 0.5, 3, 0.1, 1.0, 0.01)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("I/O operation on closed file.")])
def test_a_report_that_cannot_be_written_is_the_last_and_is_noted_once(error: Exception) -> None:
    seen: list[Event] = []

    def report(event: Event) -> None:
        seen.append(event)
        raise error

    lasting, noted = LastingReport(report), list[tuple[int, str]]()
    lasting(Note("before there is a run"))
    lasting.on_failure(lambda update, why: noted.append((update, why)))
    for number in 1, 2:
        lasting(update(number))
    assert len(seen) == 1 and noted == [(1, str(error))]
    error = ValueError("a bug")  # which is raised
    with pytest.raises(ValueError, match="a bug"):
        LastingReport(report)(Note("x"))
