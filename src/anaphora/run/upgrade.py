"""Experiments of older formats, brought up to the present one in memory; the files of a run are never changed.

A new format is one more function here and one more stored run in ``tests/runs``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from anaphora.run.manifest import FORMAT

Table = dict[str, Any]

UPGRADES: Mapping[int, Callable[[Table], Table]] = {}
"""By format, what turns its experiment into one of the next. Format 1 is the first and the present one."""


def upgraded(experiment: Table, number: int) -> Table:
    """The experiment of format ``number`` as the present format says it."""
    for format_before in range(number, FORMAT):
        experiment = UPGRADES[format_before](experiment)
    return experiment
