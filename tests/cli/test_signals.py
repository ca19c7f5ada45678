"""Training that is told to stop, in real processes: saved, left with the right exit code, and gone on with exactly."""

import os
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
Begin = Callable[..., "subprocess.Popen[str]"]


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
def begin(toy_pairs: Path, tiny_translator: Path) -> Begin:
    def start(run: Path, *settings: str) -> "subprocess.Popen[str]":
        arguments = [tiny_translator, "--data", toy_pairs, "--target", "fr", "--run", run]
        arguments += [f"--set={setting}" for setting in ("training.patience=0", *settings)]
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    return start


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert file.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "hung up")],
)
def test_a_training_told_to_stop_saves_itself_and_goes_on_to_the_same_bits(
    begin: Begin, tmp_path: Path, number: int, code: int, word: str
) -> None:
    run, whole = tmp_path / "run", tmp_path / "whole"
    with begin(run, "training.epochs=400", "training.validate_every=1000") as process:
        wait_for(run / "metrics.jsonl")
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    stopped = (run / "latest").read_text().strip().removeprefix("step-")
    lines = said.splitlines()
    assert lines[-2:] == [
        f"Stopped after update {int(stopped):,}; to continue: anaphora train --resume --run {run}",
        f"anaphora: {word}.",
    ]
    assert "Traceback" not in said
    assert len((run / "metrics.jsonl").read_text().splitlines()) == int(stopped)
    subprocess.run([*COMMAND, "--resume", "--run", str(run)], check=True, capture_output=True)
    with begin(whole, "training.epochs=400", "training.validate_every=1000") as process:
        process.communicate(timeout=120)
    last = (whole / "latest").read_text().strip()
    assert (run / "latest").read_text().strip() == last
    for name in ("model.safetensors", "optimizer.safetensors"):
        files = [folder / "checkpoints" / last / name for folder in (run, whole)]
        assert files[0].read_bytes() == files[1].read_bytes()


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
