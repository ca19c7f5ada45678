"""What long work says while it runs: plain values, passed to a ``report`` callback.

Nothing here prints. The command line attaches a progress bar to them, a notebook may collect them in a list, and
``silent`` drops them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` ``unit``s of the work named ``task`` are finished; ``total`` 0 means unknown."""

    task: str
    done: int
    total: int
    unit: str


@dataclass(frozen=True)
class Note:
    """A sentence that a person should read; ``warning`` when something was put right that should be looked at."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Update:
    """One update of the weights: number ``update``, ``done`` of ``total`` batches of ``epoch`` (both from 1)."""

    update: int
    epoch: int
    done: int
    total: int
    epochs: int
    loss: float
    """What was minimised, per target token, in nats: the mean negative log-likelihood under a plain softmax."""
    tokens: int
    """Target tokens of this update."""
    rate: float
    gradient_norm: float
    seconds: float
    """Wall-clock time of this update."""
    seconds_left: float = inf
    """Until training stops because its time is up."""


@dataclass(frozen=True)
class Validated:
    """The validation figures after ``update``; ``best`` when the deciding one is the best so far."""

    update: int
    epoch: int
    metrics: Mapping[str, float]
    best: bool


@dataclass(frozen=True)
class Saved:
    """A checkpoint was written whole."""

    update: int
    path: Path


@dataclass(frozen=True)
class Skipped:
    """``count`` records were left out, and why."""

    reason: str
    count: int


Event = Progress | Note | Update | Validated | Saved | Skipped
Report = Callable[[Event], None]


def silent(event: Event) -> None:
    """Drop the event: the default listener."""
