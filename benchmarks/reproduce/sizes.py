"""Sizes of recurrent layers under which two networks have equally many numbers.

A cell without recurrent matrices has far fewer numbers than an LSTM of the same size, and is compared with a wider one.
"""

from collections.abc import Mapping
from typing import Any

import torch

from anaphora.inspection.programs import network_of
from anaphora.tasks.base import ExperimentBase

_TABLES = ("encoder", "decoder", "recurrence")
_STEP = 4
"""Sizes are multiples of it."""


def sizes_like(wanted: ExperimentBase, other: ExperimentBase) -> list[str]:
    """Settings of another experiment under which its network has as many numbers as that of the wanted, or just less.

    Its sizes keep their proportions. Vocabularies of the same sizes stand in for those of the data.
    """
    own = {name: table.size for name in _TABLES if (table := getattr(other, name, None)) and hasattr(table, "size")}
    most, low, high = _numbers(wanted), 1, 1024
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _numbers(_sized(other, own, middle)) <= most else (low, middle - 1)
    return [f"{name}.size={size}" for name, size in _scaled(own, low).items()]


def _scaled(sizes: Mapping[str, int], steps: int) -> dict[str, int]:
    """The sizes where the smallest is so many steps."""
    return {name: max(1, round(steps * size / min(sizes.values()))) * _STEP for name, size in sizes.items()}


def _sized(experiment: ExperimentBase, own: Mapping[str, int], steps: int) -> ExperimentBase:
    tables = {
        name: getattr(experiment, name).model_copy(update={"size": size}) for name, size in _scaled(own, steps).items()
    }
    return experiment.model_copy(update=tables)


def _numbers(experiment: ExperimentBase) -> int:
    with torch.device("meta"):
        model: Any = network_of(experiment)
    return sum(weight.numel() for weight in model.parameters())
