"""Warnings and faults of the libraries below the server, as lines of its log."""

import logging
import time
import traceback
from collections.abc import Callable

_PAUSE = 10.0
"""Seconds in which one line of a kind is written."""


class LogLines(logging.Handler):
    """Writes one line for a record, and of those from one place no more than one in ``_PAUSE`` seconds.

    A traceback becomes the name and place of its error: messages may hold a text.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._said: dict[tuple[str, int, type | None], float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless one was written just now from the same place."""
        line, error = record.getMessage().partition("\n")[0], record.exc_info[1] if record.exc_info else None
        if error is not None:
            line = f"{line}: {fault(error)}"
        place = record.pathname, record.lineno, type(error)
        if time.monotonic() >= self._said.get(place, -_PAUSE) + _PAUSE:
            self._said[place] = time.monotonic()
            self._say(line)


def fault(error: BaseException) -> str:
    """Return the name and place of an error, without its message, which may hold a text."""
    where = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {where[-1].filename}:{where[-1].lineno}" if where else type(error).__name__
