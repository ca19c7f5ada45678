"""Events of long work: plain values, passed to a ``report`` callback.

Nothing here prints. The command line attaches a progress bar to them, a notebook may collect them in a list, and
``silent`` drops them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from anaphora.wording import agreeing, inflect, singular


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` ``unit``s of the work named ``task`` are finished; ``total`` 0 means unknown."""

    task: str
    done: int
    total: int
    unit: str


@dataclass(frozen=True)
class Note:
    """Sentence that a person should read; ``warning`` when something was put right that should be looked at."""

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
    """Training loss per target token, in nats: the mean negative log-likelihood under a plain softmax."""
    tokens: int
    """Predictions of this update, such as target tokens."""
    rate: float
    gradient_norm: float
    seconds: float
    """Wall-clock time of this update."""
    seconds_left: float = inf
    """Seconds until training stops because its time is up."""
    gradient_norms: Mapping[str, float] = field(default_factory=dict)
    """The norm of the gradient of each tensor of weights, by its name, before clipping."""
    unit: str = "tokens"
    """Noun of predictions: a classifier's are of texts."""


@dataclass(frozen=True)
class Validated:
    """The validation metrics after ``update``; ``best`` when the deciding one is the best so far."""

    update: int
    epoch: int
    metrics: Mapping[str, float]
    best: bool
    remark: str = ""
    """Sentence for people: a sample of what the model writes, or the classes that it never predicts."""


class RemarkedMetrics(dict[str, float]):
    """Metrics of a validation by name, with a sentence on it for people, which is reported and not logged."""

    def __init__(self, metrics: Mapping[str, float] | Iterable[tuple[str, float]], remark: str = "") -> None:
        super().__init__(metrics)
        self.remark = "".join(filter(str.isprintable, remark))


@dataclass(frozen=True)
class Saved:
    """A checkpoint was written whole."""

    update: int
    path: Path


@dataclass(frozen=True)
class Skipped:
    """``count`` records were left out, and why: "entries of a.po marked fuzzy were left out"."""

    reason: str
    count: int

    def __str__(self) -> str:
        noun, _, what = self.reason.partition(" ")
        return f"{inflect(self.count, singular(noun))} {agreeing(self.count, what)}"


Event = Progress | Note | Update | Validated | Saved | Skipped
Report = Callable[[Event], None]


def silent(event: Event) -> None:
    """Drop the event: the default listener."""


class LastingReport:
    """Report callback that is dropped when it fails to write: a closed terminal never ends hours of work."""

    def __init__(self, report: Report) -> None:
        """``report`` may raise OSError, or the ValueError of a closed file; anything else is raised."""
        self._report = report
        self._fault = ""
        self._note: Callable[[int, str], None] | None = None

    @classmethod
    def of(cls, report: Report) -> "LastingReport":
        """Return ``report`` itself where it is one already."""
        return report if isinstance(report, cls) else cls(report)

    def on_failure(self, note: Callable[[int, str], None]) -> None:
        """Call ``note`` once with the number of the update after which nothing was reported, and why."""
        self._note = note

    def __call__(self, event: Event) -> None:
        """Report the event, or that reports have ended."""
        if not self._fault:
            try:
                self._report(event)
                return
            except (OSError, ValueError) as error:
                if isinstance(error, ValueError) and "closed file" not in str(error):
                    raise
                self._fault = str(error)
        if self._note and isinstance(event, Update | Validated):
            self._note(event.update, self._fault)
            self._note = None
