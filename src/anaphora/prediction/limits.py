"""When predictions stop before their end: at a deadline, or when the caller cancels them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from anaphora.errors import CancelledError, ConfigError, DeadlineError
from anaphora.events import Report

Count = Callable[[int], None]
"""Called with the number of rows of a window that are answered."""


@dataclass(frozen=True)
class Limits:
    """When a stream of predictions stops early; the default lets it run to its end.

    Limits are checked between the steps of a search (of greedy search in C, every few), between batches, and while
    a stream waits for input. A stream that stops raises ``DeadlineError`` or ``CancelledError`` with the number of the
    first line that has no answer: the answers before it were given, those of its window (``prediction.stream``) are
    dropped.

    >>> hurried = anaphora.Limits(deadline=60)
    >>> len(translator.translate(["The cat sees a very small bird"], limits=hurried))
    1
    """

    deadline: float | None = None
    """Seconds from the moment the first answer is asked for; None for no deadline."""
    cancelled: Callable[[], bool] | None = None
    """Called often, so it should be quick (``threading.Event().is_set``); predictions stop once it returns true."""

    def __post_init__(self) -> None:
        if self.deadline is not None and not self.deadline >= 0:
            raise ConfigError(f"A deadline should be a number of seconds of at least 0, but is {self.deadline}.")

    def start(self, first: int = 1) -> "Watch":
        """These limits over one stream, whose time runs from now and whose lines are numbered from ``first``."""
        return Watch(self, first)


UNLIMITED = Limits()


class Streaming(TypedDict, total=False):
    """The keyword arguments of every stream of predictions: ``UNLIMITED`` and ``silent`` where they are left out."""

    limits: Limits
    """When it stops early, by a StoppedError."""
    report: Report
    """Receiver of its progress and notes."""


class Watch:
    """The limits of one stream that has begun."""

    def __init__(self, limits: Limits, first: int) -> None:
        self._limits = limits
        self._end = float("inf") if limits.deadline is None else time.monotonic() + limits.deadline
        self.line = first
        """The first line that has no answer yet."""

    def check(self) -> None:
        """Raise CancelledError or DeadlineError where the stream is to stop."""
        if self._limits.cancelled is not None and self._limits.cancelled():
            raise CancelledError(f"Predictions were cancelled at line {self.line}.", self.line)
        if time.monotonic() >= self._end:
            raise DeadlineError(
                f"The deadline of {self._limits.deadline:g} s passed at line {self.line}: allow more time, or give "
                f"fewer lines.",
                self.line,
            )
