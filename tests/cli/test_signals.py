"""A training saves itself on a signal and resumes to the same bits; it outlives an output that is full or closed."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from anaphora.cli.signals import handling_signals, resume_hint

COMMAND = [sys.executable, "-m", "anaphora", "train"]
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
Training = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Signals as a terminal leaves them: a shell lets what it starts in the background ignore Ctrl-C, tests included.

    Processes that are started meanwhile inherit it.
    """
    handlers = signal.default_int_handler, signal.SIG_DFL, signal.SIG_DFL
    before = {number: signal.signal(number, handler) for number, handler in zip(SIGNALS, handlers, strict=True)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def training(toy_pairs: Path, tiny_translator: Path) -> Training:
    """``training(run, epochs=40)`` is the command of a training, which validates every 20 updates if not told."""

    def command(run: Path, epochs: int, every: int = 20) -> list[str]:
        files = [tiny_translator, "--data", toy_pairs, "--target", "fr", "--run", run]
        settings = ("patience=0", f"validate_every={every}", f"epochs={epochs}")
        return [*COMMAND, *map(str, files), *(f"--set=training.{one}" for one in settings)]

    return command


def last_checkpoint(run: Path) -> Path:
    return run / "checkpoints" / (run / "latest").read_text().strip()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "word"), list(zip(SIGNALS, ("interrupted", "terminated", "hung up"), strict=True)))
def test_a_training_told_to_stop_saves_itself_and_goes_on_to_the_same_bits(
    training: Training, tmp_path: Path, number: int, word: str
) -> None:
    run, whole = tmp_path / "run", tmp_path / "whole"
    with subprocess.Popen(training(run, 400, every=1000), stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (run / "metrics.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert (run / "metrics.jsonl").exists()
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    stopped = int((run / "latest").read_text().strip().removeprefix("step-"))
    assert said.splitlines()[-2:] == [
        f"Stopped after update {stopped:,}; to continue: anaphora train --resume --run {run}",
        f"anaphora: {word}.",
    ]
    assert "Traceback" not in said
    assert len((run / "metrics.jsonl").read_text().splitlines()) == stopped
    subprocess.run([*COMMAND, "--resume", "--run", str(run)], check=True, capture_output=True)
    subprocess.run(training(whole, 400, every=1000), check=True, capture_output=True)
    last, expected = last_checkpoint(run), last_checkpoint(whole)
    assert last.name == expected.name
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert (last / name).read_bytes() == (expected / name).read_bytes()


def pipe_without_a_reader() -> int:
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["stderr", "stdout"])
@pytest.mark.parametrize("kind", ["full", "closed"])
def test_a_training_outlives_its_streams(stream: str, kind: str, training: Training, tmp_path: Path) -> None:
    if kind == "full" and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    run, whole = tmp_path / "run", tmp_path / "whole"
    subprocess.run(training(whole, 40), check=True, capture_output=True)
    lost = os.open("/dev/full", os.O_WRONLY) if kind == "full" else pipe_without_a_reader()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: lost}
    done = subprocess.run(training(run, 40), check=False, **streams)  # type: ignore[call-overload]
    os.close(lost)
    weights, expected = ((last_checkpoint(one) / "model.safetensors").read_bytes() for one in (run, whole))
    assert weights == expected and (run / "best").read_text() == (whole / "best").read_text()
    noted = any("note" in json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines())
    assert noted == (stream == "stderr")
    assert stream == "stdout" or done.returncode == 0


@pytest.mark.slow
def test_a_closed_terminal_is_a_signal_to_save(training: Training, tmp_path: Path) -> None:
    run = tmp_path / "run"
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, training(run, 100_000))
    said = b""
    while b"validation loss" not in said:
        said += os.read(terminal, 4096)
    os.close(terminal)  # the kernel sends SIGHUP, and every write fails from now on
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    assert (run / "latest").exists()
    resumed = [*COMMAND, "--resume", "--run", str(run), "--time", "1s"]
    subprocess.run(resumed, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("kept", "said"), [("latest", "last checkpoint is kept"), ("encoded", "encoded corpus is kept"), ("", "")]
)
def test_an_interrupted_training_says_what_is_kept(
    kept: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / kept).mkdir(exist_ok=True)
    with pytest.raises(KeyboardInterrupt), handling_signals(lambda: resume_hint(tmp_path)):
        raise KeyboardInterrupt
    found = capsys.readouterr().err
    assert said in found and ("--resume" in found) == bool(kept)


@pytest.mark.parametrize("number", SIGNALS)
def test_before_there_is_anything_to_save_one_signal_is_enough(number: signal.Signals) -> None:
    with pytest.raises((KeyboardInterrupt, typer.Exit)) as left, handling_signals():
        os.kill(os.getpid(), number)
    assert getattr(left.value, "exit_code", 130) == 128 + number


def test_the_second_signal_leaves_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), handling_signals() as signals:
        assert not signals.stop()
        os.kill(os.getpid(), signal.SIGINT)
        assert signals.stop() and signals.exit_code == 130
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the process is still here")
    assert "once more leaves at once" in capfd.readouterr().err


def test_an_interrupt_before_there_is_any_parser_ends_quietly() -> None:
    script = (
        "import sys; from anaphora.cli import main\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted()); sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "anaphora: interrupted.\n")


def test_handlers_are_put_back_and_what_a_process_was_started_to_ignore_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    before = [signal.getsignal(number) for number in SIGNALS]
    with handling_signals() as signals:
        os.kill(os.getpid(), signal.SIGHUP)
        assert not signals.stop()
        handled = [signal.getsignal(number) != handler for number, handler in zip(SIGNALS, before, strict=True)]
    assert handled == [True, True, False]
    assert [signal.getsignal(number) for number in SIGNALS] == before
