"""What is told of the machine that figures were taken on."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import pytest

from benchmarks import machine
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


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="this system does not tell what its cores do")
def test_own_work_and_that_of_children_is_no_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds in which the cores worked for three, one of them for this process and its children."""
    second = os.sysconf("SC_CLK_TCK")
    rest = (2 * (os.cpu_count() or 1) - 3) * second
    monkeypatch.setattr(machine, "_work_and_rest", partial(next, iter([(0, 0), (3 * second, rest)])))
    monkeypatch.setattr(machine, "_own_seconds", partial(next, iter([5.0, 6.0])))
    assert machine.OtherWork().cores() == 1.0
