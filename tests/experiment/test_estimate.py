"""The estimate is within a factor of two of what training really takes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from anaphora.samples.english_french import write

TRAIN = """
import resource, sys, time
from anaphora.cli.app import main
started = time.process_time()
assert main(sys.argv[1:]) == 0
print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise elsewhere")
def test_time_and_memory_are_within_a_factor_of_two_of_the_real_training(tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus", train=12_000, valid=500, test=100)
    options = ["quickstart", "--data", str(corpus), "--set", "training.threads=1", "--set", "training.epochs=2"]
    asked = [sys.executable, "-m", "anaphora", "check", *options, "--json"]
    command = [sys.executable, "-c", TRAIN, "train", *options, "--run", str(tmp_path / "run")]
    # other work on the machine must not decide: the seconds of this one process, and the quicker of two trials
    first = subprocess.run(asked, capture_output=True, check=True)
    real = subprocess.run(command, capture_output=True, text=True, check=True)
    second = subprocess.run(asked, capture_output=True, check=True)
    estimates = [json.loads(trial.stdout)["estimate"] for trial in (first, second)]
    estimate = min(estimates, key=lambda found: found["seconds"])
    seconds, memory = map(float, real.stdout.splitlines()[-1].split())
    assert 0.5 < estimate["seconds"] / seconds < 2, (estimate, seconds)
    assert 0.5 < estimate["memory"] / memory < 2, (estimate, memory)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    updates = sum('"loss"' in line and '"rate"' in line for line in lines)
    assert estimate["updates"] * estimate["epochs"] == pytest.approx(updates, rel=0.05)
