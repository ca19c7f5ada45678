"""Events as a person sees them: bars on a terminal, a quiet line now and then elsewhere."""

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO, cast

from anaphora.cli import collect_garbage
from anaphora.cli.talk import WrappedStream, console, give_up, raw_of, write
from anaphora.events import Event, LastingReport, Note, Progress, Report, Saved, Skipped, Update, Validated

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

QUIET_SECONDS = 15.0
"""Between two lines about the same work where there is no terminal."""


@dataclass
class Pace:
    """Speed of training, over its last updates."""

    recent: deque[Update] = field(default_factory=lambda: deque(maxlen=50))

    def see(self, update: Update) -> None:
        """Take note of an update."""
        self.recent.append(update)

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the last epoch ends or the time is up, if nothing stops training before."""
        last = self.recent[-1]
        updates = last.total * (last.epochs - last.epoch) + last.total - last.done
        to_the_end = updates * sum(update.seconds for update in self.recent) / len(self.recent)
        return max(0.0, min(to_the_end, last.seconds_left))

    def __str__(self) -> str:
        """Return the mean loss of a prediction, in nats, and the predictions a second, such as target tokens."""
        tokens = max(1, sum(update.tokens for update in self.recent))
        loss = sum(update.loss * update.tokens for update in self.recent) / tokens
        speed = tokens / max(1e-9, sum(update.seconds for update in self.recent))
        return f"loss {loss:.3f}  {speed:,.0f} {self.recent[-1].unit}/s"


@contextmanager
def listening(*, bars: bool = True) -> Iterator[Report]:
    """Yield a listener for the events of one command, chosen by where standard error goes.

    Without ``bars``, lines alone.
    """
    collect_garbage()  # a command listens from when its work begins
    if not (bars and sys.stderr.isatty()):
        yield LastingReport(_Listener(_Lines()).report)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[remark]}"))
    terminal = _Terminal(raw_of(sys.stderr))
    with Bars(*columns, console=console(cast(TextIO, terminal)), transient=True) as drawn:
        yield LastingReport(_Listener(_Bars(drawn, terminal)).report)


def sentence(event: Event) -> str:
    """Return the line of an event for people; empty for those that only move a bar."""
    match event:
        case Note(text, warning):
            return f"warning: {text}" if warning else text
        case Skipped():
            return str(event) if event.count else ""
        case Validated(update, epoch, metrics, best, remark):
            figures = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
            line = f"epoch {epoch}, update {update:,}: validation {figures}{'  (best so far)' if best else ''}"
            return f"{line}\n  {remark}" if remark else line
        case Saved() | Progress() | Update():
            return ""


class _Terminal(WrappedStream):
    """Standard error for the bars, whose thread must not die with the terminal."""

    _fault: OSError | None = None

    def flush(self) -> None:
        """Do nothing, as every write is flushed."""

    def write(self, text: str) -> int:
        try:
            self.raw.write(text)
            self.raw.flush()
        except OSError as error:
            self._fault = error
            give_up(sys.stderr)
        return len(text)

    def raise_fault(self) -> None:
        """Raise the OSError for which it cannot be written to any more."""
        if self._fault:
            raise self._fault


class _Listener:
    """Shows sentences, and work that goes on by a bar with a remark or by a line."""

    def __init__(self, shown: "_Bars | _Lines") -> None:
        self._shown = shown
        self._pace = Pace()

    def report(self, event: Event) -> None:
        """Show an event; OSError where that can be done no more."""
        match event:
            case Progress(task, done, total, unit):
                self._shown.move(task, done, total, unit, f"{task}: {done:,}{f' of {total:,}' if total else ''} {unit}")
            case Update(update, epoch, done, total, epochs):
                self._pace.see(event)
                speed = f"{self._pace}  at most {clock(self._pace.seconds_left)} left"
                remark, line = f"epoch {epoch}/{epochs}  {speed}", f"epoch {epoch}/{epochs}, update {update:,}: {speed}"
                self._shown.move("training", (epoch - 1) * total + done, epochs * total, remark, line)
            case _:
                if text := sentence(event):
                    self._shown.say(text)


class _Bars:
    """Bars on a terminal; sentences scroll by above them."""

    def __init__(self, bars: "Bars", terminal: _Terminal) -> None:
        self._bars = bars
        self._terminal = terminal
        self._tasks: dict[str, TaskID] = {}

    def move(self, name: str, done: int, total: int, remark: str, line: str) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total or None, remark=remark)
        self._bars.update(self._tasks[name], completed=done, total=total or None, remark=remark)
        if total and done >= total:
            self._bars.remove_task(self._tasks.pop(name))
        self._terminal.raise_fault()

    def say(self, text: str) -> None:
        self._bars.console.print(text, markup=False, soft_wrap=True)
        self._terminal.raise_fault()


class _Lines:
    """Plain lines, where nobody watches."""

    def __init__(self) -> None:
        self._spoken: dict[str, float] = {}

    def move(self, name: str, done: int, total: int, remark: str, line: str) -> None:
        now = time.monotonic()
        if now - self._spoken.setdefault(name, now) >= QUIET_SECONDS:
            self._spoken[name] = now
            write(line)

    def say(self, text: str) -> None:
        write(text)


def clock(seconds: float) -> str:
    """Hours, minutes and seconds as on a stopwatch."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
