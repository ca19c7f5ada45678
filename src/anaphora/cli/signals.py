"""Ctrl-C, SIGTERM and a closed terminal while training: the first signal lets it save, the second leaves at once."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import typer

from anaphora.cli.talk import say

if TYPE_CHECKING:
    from anaphora.training.loop import Outcome

_HANDLED = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Signals:
    """The signals that the process received, for the loop to ask about."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._caught = 0
        self._asked = False

    def stop(self) -> bool:
        """True if training should save itself and end; until this is asked first, there is nothing to save."""
        self._asked = True
        return bool(self._caught)

    @property
    def exit_code(self) -> int:
        """The exit code that a shell expects of a process ended by the signal."""
        return 128 + self._caught

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take note of the first signal; leave at the second, or when there is nothing to save."""
        if self._asked and not self._caught:
            self._caught = number
            with suppress(OSError, ValueError, AttributeError):  # the terminal may be gone, which is why we are called
                # not print: the signal may have come in the middle of one
                os.write(sys.stderr.fileno(), b"Saving after this update, then leaving; once more leaves at once.\n")
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise typer.Exit(128 + number)


@contextmanager
def handling_signals(hint: Callable[[], str] = str) -> Iterator[Signals]:
    """Handle signals by the ``Signals`` that it gives, and as before afterwards.

    Those that the process was started to ignore (nohup) stay ignored; outside the main thread, where none arrive,
    nothing is changed. Work that is left at once ends with the sentence that ``hint`` returns, if any.
    """
    signals, in_main = Signals(), threading.current_thread() is threading.main_thread()
    handled = [number for number in _HANDLED if in_main and signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, signals.handle) for number in handled}
    try:
        yield signals
    except (KeyboardInterrupt, typer.Exit):
        if remark := hint():
            say(remark)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(outcome: "Outcome", folder: Path, exit_code: int) -> NoReturn:
    """Say how to continue a training that was told to stop, and leave with the exit code of what told it."""
    if (folder / "latest").exists():
        say(f"Stopped after update {outcome.update:,}; {resume_command(folder)}")
    raise typer.Exit(exit_code)


def resume_hint(folder: Path) -> str:
    """Return what a training that was interrupted leaves in its run folder, and how to resume it."""
    if (folder / "latest").exists():
        return f"The last checkpoint is kept; {resume_command(folder)}"
    encoded = f"There is no checkpoint yet, but the encoded corpus is kept; {resume_command(folder)}"
    return encoded if (folder / "encoded").exists() else ""


def resume_command(folder: Path) -> str:
    """Return the command that continues a training."""
    return f"to continue: anaphora train --resume --run {quote(str(folder))}"
