"""Trainings that are killed before any file operation or at any moment, and then go on to the same bits."""

import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from tests.faults.processes import Fault, Outcome, command
from tests.faults.tasks import SAMPLES, Sample, everything

KILLS = 3


@cache
def undisturbed(sample: Sample) -> tuple[dict[str, object], Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        sample.write(place)
        ended = command(sample.training(), at=place)
        if ended.code:
            raise Fault(f"{sample.name} cannot be trained: {ended.err}")
        return everything(place / "run"), ended


def trial(random: Random) -> str:
    """Kill a training of some task up to ``KILLS`` times, and compare what it ends with; returns the task's name.

    Raises Fault for what differs.
    """
    sample = random.choice(SAMPLES)
    expected, whole = undisturbed(sample)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        sample.write(place)
        said = []
        for _ in range(random.randint(1, KILLS)):
            how = (
                {"kill_at": random.randint(1, whole.operations)}
                if random.random() < 0.7
                else {"kill_after": random.uniform(0.01, whole.seconds)}
            )
            ended = command(_next(sample, place), at=place, **how)
            said.append(f"{how}: {ended.code}")
            if not ended.killed:
                _succeeded(ended, said)
        _succeeded(command(_next(sample, place), at=place), said)
        found = everything(place / "run")
    wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if wrong:
        first = wrong[0]
        raise Fault(
            f"{sample.name}, {'; '.join(said)}: it ends with other {', '.join(wrong)}; {first} is\n"
            f"{found.get(first)!r}, not\n{expected.get(first)!r}"[:4000]
        )
    return sample.name


def _next(sample: Sample, place: Path) -> list[str | Path]:
    if os.path.lexists(place / "run" / "experiment.toml"):
        return ["train", "--resume", "--run", "run"]
    return sample.training()


def _succeeded(ended: Outcome, said: list[str]) -> None:
    if ended.code:
        raise Fault(f"after {'; '.join(said)}: {ended.err[-2000:]}")
