"""A person at a terminal, in real processes."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

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
