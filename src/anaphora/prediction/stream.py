"""Items answered as they come: a bounded window at a time, in order, without waiting for a window to fill."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Generic, NamedTuple, TypeVar

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
    reader = _Reader(items, size)
    try:
        while window := reader.window(size, check):
            yield window
    finally:
        reader.closed.set()


class _EndOfItems(NamedTuple):
    """The end of the items, with what reading raised."""

    error: BaseException | None


class _Reader(Generic[T]):
    """A thread that reads ahead, by at most ``ahead`` items."""

    def __init__(self, items: Iterable[T], ahead: int) -> None:
        self._queue: Queue[T | _EndOfItems] = Queue(ahead)
        self.closed = Event()
        """Set to let the thread end."""
        self._ended: _EndOfItems | None = None
        Thread(target=self._read, args=(items,), daemon=True).start()

    def window(self, size: int, check: Callable[[], None]) -> list[T]:
        """Return the next items; none at the end."""
        found: list[T] = []
        until = float("inf")
        while len(found) < size and self._ended is None:
            try:
                item = self._queue.get(timeout=max(0.0, until - time.monotonic()) if found else PATIENCE)
            except Empty:
                if found:
                    break
                check()
                continue
            if isinstance(item, _EndOfItems):
                self._ended = item
            else:
                found.append(item)
                until = min(until, time.monotonic() + PATIENCE)
        if not found and self._ended is not None and self._ended.error is not None:
            raise self._ended.error
        return found

    def _read(self, items: Iterable[T]) -> None:
        error: BaseException | None = None
        try:
            for item in items:
                if not self._put(item):
                    return
        except BaseException as raised:  # it is raised where the items are awaited
            error = raised
        self._put(_EndOfItems(error))

    def _put(self, item: T | _EndOfItems) -> bool:
        while not self.closed.is_set():
            try:
                self._queue.put(item, timeout=PATIENCE)
            except Full:
                continue
            return True
        return False
