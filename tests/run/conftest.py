"""A small run folder with three checkpoints."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from anaphora.run import Run

EXPERIMENT = {"task": "toy", "data": {"source": "en"}, "training": {"epochs": 3, "betas": [0.9, 0.99]}}

Tensors = dict[str, Tensor]


def _tensors(update: int) -> tuple[Tensors, Tensors]:
    model = {"layer.weight": torch.full((2, 3), float(update)), "layer.bias": torch.arange(3) / 7}
    return model, {"optimizer/exp_avg/layer.bias": torch.full((3,), update / 3), "carry/h": torch.zeros(1, 2)}


@pytest.fixture
def save() -> Callable[[Run, int], Path]:
    """Save a checkpoint whose tensors tell its update."""
    return lambda run, update: run.save(update, *_tensors(update), {"update": update, "rate": 0.1})


@pytest.fixture
def run(tmp_path: Path, save: Callable[[Run, int], Path]) -> Run:
    """A run with checkpoints 10 (the best), 30 and 40."""
    made = Run.create(tmp_path / "run", EXPERIMENT, {}, {"train": "ab12"})
    save(made, 10)
    made.mark_best(10)
    for update in (20, 30, 40):
        save(made, update)
    return made
