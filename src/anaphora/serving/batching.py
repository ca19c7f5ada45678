"""Texts of all requests in one queue, translated in batches with the same search.

One thread translates, one batch at a time, with all threads of the library. A text waits for the batch before it alone,
and shares its own with what arrived meanwhile; no text changes the translation of another. A batch has a text of each
client that waits, then a second one of each, until it is full; the texts of one client alternate likewise between its
requests.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from anaphora.errors import AnaphoraError
from anaphora.prediction.limits import Limits
from anaphora.prediction.options import SearchOptions
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal, bad
from anaphora.serving.translators import ServedRun
from anaphora.tasks.translation.translation import Translation

TEXTS = 64
"""Most texts of a batch: a long request lets others in between."""
CHARACTERS = 10_000
"""Most characters of a batch of several texts."""
RETRY = {"Retry-After": "5"}

T = TypeVar("T")


class Search(NamedTuple):
    """Translator and search options of one batch."""

    served: ServedRun
    options: SearchOptions
    prefix: str = ""
    """Words that each translation begins with."""


@dataclass(eq=False)
class _Job:
    """One text in the queue."""

    search: Search
    text: str
    client: str
    request: object
    answer: asyncio.Future[Translation] = field(repr=False)


class Batching:
    """The queue, and the task that empties it."""

    def __init__(self, limits: ServingLimits, translated: Callable[[int, float], None] = lambda texts, seconds: None):
        """``translated`` is told of every batch: how many texts it had and how many seconds it took."""
        self._limits, self._translated = limits, translated
        self._queue: list[_Job] = []
        """Clients that had no turn for longer come first."""
        self._progress: float | None = None
        """When the batch in work began; without one when the first text came; None while nothing waits."""
        self._changed = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1, "translating")
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Number of waiting texts."""
        return len(self._waiting())

    @property
    def busy(self) -> bool:
        """True if a request might have to wait outside the queue."""
        return _size(self._waiting()) >= self._limits.waiting

    @property
    def is_stuck(self) -> bool:
        """True if texts wait, or are in work, and none got an answer for longer than ``limits.patience``."""
        return self._progress is not None and time.monotonic() > self._progress + self._limits.patience

    def start(self) -> None:
        """Begin to translate; within a running event loop."""
        self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """End once the batch in work is done."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._thread.shutdown()

    async def translate(
        self, search: Search, texts: Sequence[str], client: str = "", request: object = None, *, patient: bool = False
    ) -> list[Translation]:
        """Return the translations of some texts, in their order.

        Cancelling it takes its texts out of the queue. Raises Refusal with status 503 where the queue stays full,
        unless it is ``patient``, and 400 for a text that cannot be translated. Calls of one ``request`` share turns.
        """
        loop, request = asyncio.get_running_loop(), request or object()
        jobs = [_Job(search, text, client, request, loop.create_future()) for text in texts]
        try:
            await self._enter(jobs, None if patient else self._limits.patience)
            return list(await asyncio.gather(*(job.answer for job in jobs)))
        except AnaphoraError as error:
            raise bad(str(error)) from None
        finally:
            for job in jobs:
                job.answer.cancel()

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of work that needs a translator, done between two batches."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _waiting(self) -> list[_Job]:
        return [job for job in self._queue if not job.answer.done()]

    async def _enter(self, jobs: list[_Job], patience: float | None) -> None:
        """Put texts into the queue, as soon as there is room: for one request of each client there always is."""

        def has_room() -> bool:
            waiting = self._waiting()
            others = all(job.client != jobs[0].client for job in waiting)
            return others or _size(waiting) + _size(jobs) <= self._limits.waiting

        if not jobs:
            return
        async with self._changed:
            try:
                async with asyncio.timeout(patience):
                    await self._changed.wait_for(has_room)
            except TimeoutError:
                raise Refusal(503, "The server is busy: try again later.", RETRY) from None
            self._queue += jobs
            self._progress = self._progress or time.monotonic()
            self._changed.notify_all()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: bool(self._queue))
            await asyncio.sleep(0)  # what arrived at the same time is translated together
            jobs = await self._next()
            if not jobs:
                self._progress = None
                continue
            begin = self._progress = time.monotonic()
            answers = await loop.run_in_executor(self._thread, _translate, jobs)
            self._progress = time.monotonic() if self._queue else None
            self._translated(len(jobs), time.monotonic() - begin)
            for job, answer in zip(jobs, answers, strict=True):
                if job.answer.done():
                    continue
                if isinstance(answer, BaseException):
                    job.answer.set_exception(answer)
                else:
                    job.answer.set_result(answer)

    async def _next(self) -> list[_Job]:
        """Return the next batch, taken out of the queue: the first text, and others of the same search in turn."""
        async with self._changed:
            waiting = self._waiting()
            turns = _in_turn(_in_turn(waiting, lambda job: job.request), lambda job: job.client)
            alike = (job for job in turns if job.search == turns[0].search)
            jobs = next(batches(alike, lambda job: job.text), [])
            taken, clients = set(jobs), {job.client for job in jobs}
            left = (job for job in waiting if job not in taken)
            self._queue = sorted(left, key=lambda job: job.client in clients)
            self._changed.notify_all()
        return jobs


def batches(items: Iterable[T], text: Callable[[T], str]) -> Iterator[list[T]]:
    """Items in their order, as many together as a batch takes."""
    batch, size = list[T](), 0
    for item in items:
        if batch and (len(batch) == TEXTS or size + len(text(item)) > CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(text(item))
    if batch:
        yield batch


def _in_turn(jobs: Iterable[_Job], owner: Callable[[_Job], Hashable]) -> list[_Job]:
    """Return one job of each owner, then a second one of each, and so on."""
    turns = Counter[Hashable]()

    def turn(job: _Job) -> int:
        turns[owner(job)] += 1
        return turns[owner(job)]

    return sorted(jobs, key=turn)


def _size(jobs: Iterable[_Job]) -> int:
    """Count the characters of jobs, with a line end for each."""
    return sum(len(job.text) + 1 for job in jobs)


def _translate(jobs: Sequence[_Job]) -> list[Translation | Exception]:
    """Return an answer for each job; it stops early once nobody waits for any of them."""
    served, options, prefix = jobs[0].search
    limits = Limits(cancelled=lambda: all(job.answer.done() for job in jobs))
    prefixes: Any = {"prefixes": [prefix] * len(jobs)} if prefix else {}
    try:
        return list(served.predictor.translate_text([job.text for job in jobs], options, limits=limits, **prefixes))
    except Exception as error:
        if len(jobs) == 1 or not isinstance(error, AnaphoraError):
            return [error for _ in jobs]
        return [_translate([job])[0] for job in jobs]  # a text that cannot be translated is refused by itself
