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


class SafeReport:
    """A listener that never ends the work it listens to: what another listener raises is kept, not passed on.

    A terminal that hung up, a pipe whose reader is gone and a full disk make a listener fail; the work goes on. To end
    training from a listener, use its ``stop``.
    """

    def __init__(self, report: Report) -> None:
        """``report`` receives every event, whether or not it failed before."""
        self._report = report
        self._faults: dict[str, bool] = {}  # whether each was handed out

    def __call__(self, event: Event) -> None:
        """Pass an event on."""
        try:
            self._report(event)
        except Exception as error:
            self._faults.setdefault(f"{type(error).__name__}: {error}", False)

    def new_faults(self) -> list[str]:
        """What was raised since this was last called, each text once in all."""
        new = [fault for fault, known in self._faults.items() if not known]
        self._faults.update(dict.fromkeys(new, True))
        return new


def safe(report: Report) -> SafeReport:
    """``report`` as one that never raises; itself where it is that already."""
    return report if isinstance(report, SafeReport) else SafeReport(report)
