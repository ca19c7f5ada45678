"""Training whose standard output or error is lost, in real processes: it ends as it would have, and its log says so."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anaphora.cli.progress import listening
from anaphora.events import Note, safe

Start = Callable[[Path, str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def train(toy_pairs: Path, tiny_translator: Path) -> Start:
    """Trains in a shell that redirects what it writes as told, and gives the exit code of training on a line of 3."""

    def start(run: Path, redirected: str) -> "subprocess.CompletedProcess[str]":
        command = (
            f"{sys.executable} -m anaphora train {tiny_translator} --data {toy_pairs} --target fr --run {run} "
            f"--set training.validate_every=1 --set training.save_every=0"
        )
        script = f"exec 3>&1; {redirected.format(command=f'{{ {command}; echo $? >&3; }}')}"
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=100)

    return start


def bits(run: Path) -> dict[str, bytes]:
    return {file.parent.name + file.name: file.read_bytes() for file in run.glob("checkpoints/*/*.safetensors")}


def failures(run: Path) -> list[str]:
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line["report_failed"] for line in lines if "report_failed" in line]


REDIRECTED = {
    "{command} 2>/dev/full": "OSError: [Errno 28]",
    "{command} 2>&1 | true": "BrokenPipeError: ",
    "{command} 2>&1 >/dev/null | head -n 1 >/dev/null": "BrokenPipeError: ",
    "{command} 2>&-": "",
    "{command} >/dev/full": "",
    "{command} >&-": "",
    "{command} | true": "",
    "{command} >/dev/full 2>/dev/full": "OSError: [Errno 28]",
}
"""Where training writes to, and what its log is to say of it."""


@pytest.mark.slow
def test_training_outlives_what_it_writes_to(train: Start, tmp_path: Path) -> None:
    train(tmp_path / "whole", "{command}")
    assert bits(tmp_path / "whole")
    for number, (redirected, noted) in enumerate(REDIRECTED.items()):
        run = tmp_path / str(number)
        done = train(run, redirected)
        assert done.stdout.splitlines()[-1:] == ["0"], (redirected, done)
        assert "Traceback" not in done.stderr
        assert bits(run) == bits(tmp_path / "whole")
        assert (run / "best").read_text() == (tmp_path / "whole" / "best").read_text()
        assert len(failures(run)) == bool(noted) and all(noted in one for one in failures(run)), redirected


@pytest.mark.slow
def test_training_outlives_its_terminal(toy_pairs: Path, tiny_translator: Path, tmp_path: Path) -> None:
    terminal, end = os.openpty()
    run = tmp_path / "run"
    arguments = ["train", str(tiny_translator), "--data", str(toy_pairs), "--target", "fr", "--run", str(run)]
    command = [sys.executable, "-m", "anaphora", *arguments, "--set", "training.epochs=100"]
    with subprocess.Popen(command, stderr=end, stdout=end) as process:
        os.close(end)
        while not (run / "metrics.jsonl").exists():
            os.read(terminal, 1000)
        os.close(terminal)
        assert process.wait(60) == 0
    assert len(failures(run)) == 1 and "Errno 5" in failures(run)[0]


def test_an_error_keeps_its_exit_code_where_nobody_reads_it() -> None:
    command = f"{sys.executable} -m anaphora recipes nothing"
    for redirected in ("2>/dev/full", "2>&-", "2> >(true)"):
        done = subprocess.run(["bash", "-c", f"{command} {redirected}"], capture_output=True, timeout=60)
        assert done.returncode == 2


def test_a_listener_that_fails_is_heard_of_once_and_gets_every_event() -> None:
    seen = []

    def fails(event: object) -> None:
        seen.append(event)
        raise BrokenPipeError(32, "Broken pipe")

    report = safe(fails)
    for text in ("one", "two", "three"):
        report(Note(text))
    assert [str(event) for event in seen] == [str(Note(text)) for text in ("one", "two", "three")]
    assert report.new_faults() == ["BrokenPipeError: [Errno 32] Broken pipe"] and report.new_faults() == []
    assert safe(report) is report


@contextmanager
def full() -> Iterator[None]:
    with open("/dev/full", "w") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        yield
        stream_fd = os.open(os.devnull, os.O_WRONLY)
        os.dup2(stream_fd, stream.fileno())  # where what it holds can go
        os.close(stream_fd)


def test_every_verb_goes_on_where_standard_error_is_full() -> None:
    with full(), listening() as report:
        report(Note("Lost."))
        assert "No space left" in report.new_faults()[0]
