"""A run that is stopped before its first update and loses what it started from."""

from collections.abc import Callable
from pathlib import Path

import torch

from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.weights import as_tensors
from anaphora.tasks.base import ExperimentBase


def weights(run: Path) -> dict[str, torch.Tensor]:
    """What a run gives to whoever uses it."""
    return as_tensors(Run.open(run).load("best").model)


def assert_goes_on_without(experiment: ExperimentBase, folder: Path, lose: Callable[[], object]) -> None:
    """Trained whole, and begun, robbed by ``lose`` and gone on with, ``experiment`` ends with the same bits."""
    whole, parts = folder / "whole", folder / "parts"
    train(experiment, whole)
    train(experiment, parts, stop=lambda: True)
    assert Run.open(parts).checkpoints() == [0]
    lose()
    assert train(experiment, parts, resume=True).reason == "epochs"
    ends = weights(whole), weights(parts)
    assert ends[0].keys() == ends[1].keys() and all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
