"""Runs that were stopped halfway and stored go on to the bits that they would have ended with when they were stored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from ..runs.make_halfway import resumed
from ..runtimes import threads

STORED = Path(__file__).parents[1] / "runs"
FINISHED = {folder.name: json.loads((folder / "finished.json").read_text()) for folder in STORED.glob("halfway-*")}
"""What finishing each run gave when it was stored, by folder and name."""
ELSEWHERE = 1e-3
"""How far numbers may lie apart, relatively, where other processors and versions of torch round otherwise."""


@pytest.fixture(autouse=True)
def own_threads() -> Iterator[None]:
    """The threads of the tests; those of the stored runs are their own."""
    with threads(torch.get_num_threads()):
        yield


def environment(run: Path) -> dict[str, Any]:
    """What rounding depends on, as the latest checkpoint of ``run`` has it."""
    checkpoint = (run / "latest").read_text().strip()
    found: dict[str, Any] = json.loads((run / "checkpoints" / checkpoint / "manifest.json").read_text())["environment"]
    return {"kernels": 0} | found  # absent before its version was counted


def near(expected: Any) -> Any:
    """What equals ``expected``, in all nested tables and lists, but for rounding."""
    if isinstance(expected, dict):
        return {key: near(value) for key, value in expected.items()}
    if isinstance(expected, list):
        return [near(value) for value in expected]
    return pytest.approx(expected, rel=ELSEWHERE, abs=1e-6) if isinstance(expected, float) else expected


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("folder", "name"), [(folder, name) for folder in sorted(FINISHED) for name in FINISHED[folder]]
)
def test_a_run_that_was_stored_halfway_ends_with_the_same_bits(folder: str, name: str, tmp_path: Path) -> None:
    stored, run, expected = STORED / folder / name, tmp_path / "run", FINISHED[folder][name]
    found = resumed(stored, run)
    if environment(stored).items() <= environment(run).items():
        assert found == expected
    else:
        digests = {"sha256": found["sha256"]}
        assert found == near(expected) | digests
