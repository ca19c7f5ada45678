"""What is told of the machine that figures were taken on."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchmarks.machine import this_machine


@pytest.fixture
def work() -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield
    process.kill()
    process.wait()


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="this system does not tell what its cores do")
def test_other_work_is_noticed_while_it_goes_on(work: None) -> None:
    machine = this_machine()
    assert machine.busy
    assert 0.5 < machine.load <= (os.cpu_count() or 1)
