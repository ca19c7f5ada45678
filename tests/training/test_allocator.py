"""Memory that is freed is not asked for again."""

import json
import subprocess
import sys

import pytest

_PROGRAM = """
import json, resource
import torch
from anaphora.training.loop import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        torch.empty(9_000_000).fill_(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back, known = faults(), keep_freed_memory()
for _ in range(5):
    faults()
print(json.dumps([given_back, known, faults()]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="counts page faults through the resource module")
def test_freed_memory_costs_no_page_faults_when_it_is_asked_for_again() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    given_back, known, kept = json.loads(done.stdout)
    if not known:
        pytest.skip("this C library has no such setting")
    assert kept * 10 < given_back
