"""Memory that is freed is not asked for again."""

import subprocess
import sys

import pytest

_PROGRAM = """
import resource, sys
import torch
from anaphora.training.allocator import keep_freed_memory
if sys.argv[1] == "keep" and not keep_freed_memory():
    print(-1)
    raise SystemExit
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20): torch.zeros(1 << 24)
before = faults()
for _ in range(5): torch.zeros(1 << 24)
print(faults() - before)
"""


def _faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="counts page faults through the resource module")
def test_freed_memory_costs_no_page_faults_when_it_is_asked_for_again() -> None:
    kept = _faults("keep")
    if kept < 0:
        pytest.skip("this C library has no such setting")
    assert kept * 10 < _faults("leave")
