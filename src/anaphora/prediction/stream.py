"""Items answered as they come: a bounded window at a time, in order, without waiting for a window to fill."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

from anaphora.batch import Batch
from anaphora.errors import AnaphoraError
from anaphora.events import Progress, Report, silent
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import demand_several
from anaphora.prediction.limits import UNLIMITED, Count, Limits, Watch

T = TypeVar("T")
Read = TypeVar("Read")
Answer = TypeVar("Answer")

WINDOW = 1000
"""Items of a window at most: enough to sort by length, few enough to hold."""
PATIENCE = 0.1
"""Seconds that the first item of a window waits for others at most."""


def answers(
    items: Iterable[T],
    read: Callable[[T, int], Read],
    answer: Callable[[Sequence[Read], Watch, Count], Iterable[Answer]],
    *,
    task: str,
    unit: str,
    runtime: Runtime | None = None,
    limits: Limits = UNLIMITED,
    report: Report = silent,
    refused: Callable[[int, AnaphoraError], Answer] | None = None,
    first: int = 1,
) -> Iterator[Answer]:
    """Yield one answer for each item, in order, a window at a time; no more than two windows are held.

    ``read`` prepares an item, given with its number in the stream (from ``first``). Where it refuses one, by an
    AnaphoraError or a TypeError, the items before are answered, and then the error is raised; so is what reading
    ``items`` raises. With ``refused``, it is called with the number and the AnaphoraError instead, and gives the answer
    of that item.
    ``answer`` returns one answer for each row of a window, in their order; it checks the ``Watch`` often, calls
    ``Count`` with how many are done, and runs within ``runtime``. ``task`` and ``unit`` are those of the Progress that
    is reported. Raises TypeError for one text in place of several, StoppedError as ``limits`` say.
    """
    watch, total = limits.start(first), len(items) if isinstance(items, Sized) else 0
    for window in windows(items, check=watch.check):
        done, rows, refusal = watch.line - first, list[Read](), None
        others = dict[int, Answer]()
        for number, item in enumerate(window, watch.line):
            watch.check()
            try:
                rows.append(read(item, number))
            except (AnaphoraError, TypeError) as error:
                if refused is None or isinstance(error, TypeError):
                    refusal = error
                    break
                others[number] = refused(number, error)

        def answered(count: int, done: int = done) -> None:
            report(Progress(task, done + count, total, unit))

        if rows or others:
            with running(runtime or Runtime.inference()):
                found = iter(list(answer(rows, watch, answered)) if rows else ())
            numbers = range(watch.line, watch.line + len(rows) + len(others))
            watch.line = numbers.stop
            answered(len(numbers))
            for number in numbers:
                yield others[number] if number in others else next(found)
        if refusal is not None:
            raise refusal


def by_row(
    batches: Iterable[Batch], make: Callable[[Batch], Iterable[Answer]], watch: Watch, answered: Count
) -> dict[int, Answer]:
    """Return ``make`` of the rows of each batch by their example ids, in ascending order."""
    found: dict[int, Answer] = {}
    for batch in batches:
        watch.check()
        found.update(zip(batch.example_ids_B.tolist(), make(batch), strict=True))
        answered(len(found))
    return dict(sorted(found.items()))


def windows(items: Iterable[T], size: int = WINDOW, check: Callable[[], None] = lambda: None) -> Iterator[list[T]]:
    """Yield the items in their order, in lists of at most ``size``; a list is never empty.

    A sequence is split into full windows. Any other iterable is read by a thread, and a window ends
    ``PATIENCE`` seconds after its first item came, so that a client that writes one line and waits is answered. What
    reading raises is raised here, after the windows before it. While it waits for a first item it calls ``check``,
    whose errors end it. TypeError for one text in place of several.
    """
    demand_several(items)
    if isinstance(items, Sequence):
        yield from (list(items[start : start + size]) for start in range(0, len(items), size))
        return
    queue, closed = Queue[tuple[T] | _EndOfItems](size), Event()

    def put(entry: tuple[T] | _EndOfItems) -> bool:
        while not closed.is_set():
            with suppress(Full):
                queue.put(entry, timeout=PATIENCE)
                return True
        return False

    def read() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                if not put((item,)):
                    return
        except BaseException as raised:  # it is raised where the items are awaited
            error = raised
        put(_EndOfItems(error))

    Thread(target=read, daemon=True).start()
    window, until = list[T](), 0.0
    entry: tuple[T] | _EndOfItems | None = None
    try:
        while not isinstance(entry, _EndOfItems):
            try:
                entry = queue.get(timeout=max(0.0, until - time.monotonic()) if window else PATIENCE)
            except Empty:
                entry = None
            if isinstance(entry, tuple):
                until = until if window else time.monotonic() + PATIENCE
                window.append(entry[0])
            elif entry is None and not window:
                check()
            if window and (not isinstance(entry, tuple) or len(window) == size):
                yield window
                window = []
    finally:
        closed.set()
    if entry.error is not None:
        raise entry.error


@dataclass(frozen=True)
class _EndOfItems:
    """The end of the items, with what reading raised."""

    error: BaseException | None
