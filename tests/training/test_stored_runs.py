"""Runs that were stopped halfway and stored go on to the bits that they would have ended with when they were stored.

Those whose optimizer belongs to another training, under checksums that fit, are refused in one sentence.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.errors import RunError, ShapeError
from anaphora.run import weights
from tests.runs.make import resumed
from tests.runtimes import threads
from tests.sealing import reseal

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


Tensors = dict[str, Tensor]


def read(file: Path) -> Tensors:
    return weights.as_tensors(weights.parse(bytearray(file.read_bytes()), file))


def optimizers(run: Path) -> list[Path]:
    return sorted(run.glob("checkpoints/*/optimizer.safetensors"))


def without(field: str) -> Callable[[Tensors], Tensors]:
    return lambda found: {name: one for name, one in found.items() if f"/{field}/" not in name}


def each(field: str, change: Callable[[Tensor], Tensor]) -> Callable[[Tensors], Tensors]:
    return lambda found: {name: change(one) if f"/{field}" in name else one for name, one in found.items()}


def renamed(before: str, after: str) -> Callable[[Tensors], Tensors]:
    return lambda found: {name.replace(before, after): one for name, one in found.items()}


CHANGES: Mapping[str, tuple[str, Callable[[Tensors], Tensors]]] = {
    "the fields of another rule": ("dropout", renamed("exp_avg/", "momentum_buffer/")),
    "a field less": ("dropout", without("exp_avg_sq")),
    "numbers for matrices": ("dropout", each("exp_avg/", lambda one: torch.zeros(()))),
    "steps that are no number": ("dropout", each("step/", lambda one: one * torch.nan)),
    "steps of every weight": ("dropout", each("step/", lambda one: torch.zeros(2))),
    "whole numbers": ("sentences", each("momentum_buffer", lambda one: one.long())),
    "other shapes": ("sentences", each("momentum_buffer", lambda one: one[:1])),
    "other weights": ("sentences", renamed("momentum_buffer/", "momentum_buffer/more.")),
    "no iterates": ("averaged-sgd", without("iterate")),
    "some iterates": ("averaged-sgd", lambda found: dict(list(found.items())[:-1])),
    "iterates of no average": ("moving-average", without("iterate")),
    "a state of other rows": ("averaged-sgd", each("layer0.c", lambda one: torch.cat([one, one]))),
    "a state of another layer": ("averaged-sgd", renamed("carry/layer0.c", "carry/layer9.c")),
    "a state of whole numbers": ("noise-contrastive", each("layer0.h", lambda one: one.long())),
    "tokens of other rows": ("window", each("ids", lambda one: one[:1])),
    "tokens of another vocabulary": ("window", each("ids", lambda one: one + 10**6)),
    "negative tokens": ("window", each("ids", lambda one: one - 10**6)),
}


@pytest.mark.matrix
@pytest.mark.parametrize("how", CHANGES)
def test_a_changed_optimizer_is_refused(how: str, tmp_path: Path) -> None:
    name, change = CHANGES[how]
    stored = Path(shutil.copytree(STORED / "halfway-2", tmp_path / "stored")) / name
    for file in optimizers(stored):
        file.write_bytes(weights.serialise(change(read(file))))
    reseal(stored)
    with pytest.raises((RunError, ShapeError)) as caught:
        resumed(stored, tmp_path / "run")
    assert "experiment" in str(caught.value) or "vocabulary" in str(caught.value)
