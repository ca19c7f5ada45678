"""What makes an experiment the one that a run was begun with, and what may change when the run goes on."""

import json
from collections.abc import Mapping
from typing import Any

from anaphora.files import sha256

BOUNDS = (
    "training.epochs",
    "training.minutes",
    "training.patience",
    "training.threads",
    "training.device",
    "training.keep",
)
"""Where training stops, what carries it there, and how many checkpoints are kept."""


def identity(experiment: Mapping[str, Any]) -> str:
    """A SHA-256 of an experiment's tables, whatever its bounds and however its file is laid out."""
    return sha256(json.dumps(_without_bounds(experiment), sort_keys=True, default=str).encode())


def with_bounds(experiment: Mapping[str, Any], bounds: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of an experiment's tables with the bounds that the tables ``bounds`` have."""
    changed = {name: dict(value) if isinstance(value, Mapping) else value for name, value in experiment.items()}
    for table, option in _keys():
        if option in bounds.get(table, {}):
            changed.setdefault(table, {})[option] = bounds[table][option]
    return changed


def _without_bounds(experiment: Mapping[str, Any]) -> dict[str, Any]:
    bare = dict(experiment)
    for table, option in _keys():
        if isinstance(bare.get(table), Mapping):
            bare[table] = {name: value for name, value in bare[table].items() if name != option}
    return bare


def _keys() -> list[tuple[str, str]]:
    return [(table, option) for table, _, option in (key.partition(".") for key in BOUNDS)]
