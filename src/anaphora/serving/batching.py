"""Texts of all requests in one queue, translated in batches with the same search.

One thread translates, one batch at a time: a batch uses all the threads that torch has. A text waits at most ``DELAY``
for others to share a batch with, and no text changes the translation of another.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from anaphora.errors import AnaphoraError
from anaphora.prediction.limits import Limits
from anaphora.prediction.options import SearchOptions
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal, bad
from anaphora.serving.translators import Served
from anaphora.tasks.translation import Translation

DELAY = 0.005
"""Seconds that the first text of a batch waits for others."""
TEXTS = 64
"""Most texts of a batch: a long request lets others in between."""
RETRY = {"Retry-After": "5"}


class Search(NamedTuple):
    """What texts of one batch have in common: the translator, and how it searches."""

    served: Served
    options: SearchOptions


@dataclass(eq=False)
class _Job:
    """One text in the queue."""

    search: Search
    text: str
    answer: asyncio.Future[Translation] = field(repr=False)


class Batching:
    """The queue, and the task that empties it."""

    def __init__(self, limits: ServingLimits, translated: Callable[[int, float], None] = lambda texts, seconds: None):
        """``translated`` is told of every batch: how many texts it had and how many seconds it took."""
        self._limits, self._translated = limits, translated
        self._queue: deque[_Job] = deque()
        self._characters = 0
        self._changed = asyncio.Condition()
        self._thread = ThreadPoolExecutor(1, "translating")
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many texts wait."""
        return len(self._queue)

    @property
    def busy(self) -> bool:
        """Whether a request might have to wait outside the queue."""
        return self._characters >= self._limits.waiting

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

    async def translate(self, search: Search, texts: Sequence[str]) -> list[Translation]:
        """The translations of some texts, in their order.

        Cancelling it takes its texts out of the queue. Raises Refusal with status 503 where the queue is full, 504
        after the deadline, and 400 for a text that cannot be translated.
        """
        try:
            async with asyncio.timeout(self._limits.deadline):
                jobs = await self._enter(search, texts)
                try:
                    return list(await asyncio.gather(*(job.answer for job in jobs)))
                finally:
                    for job in jobs:
                        job.answer.cancel()
        except TimeoutError:
            raise Refusal(504, f"Not translated within {self._limits.deadline:g} s: send less text.") from None
        except AnaphoraError as error:
            raise bad(str(error)) from None

    async def _enter(self, search: Search, texts: Sequence[str]) -> list[_Job]:
        """The texts in the queue, as soon as there is room for them."""
        size, loop = sum(map(len, texts)), asyncio.get_running_loop()

        def has_room() -> bool:
            return not self._characters or self._characters + size <= self._limits.waiting

        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(has_room), self._limits.patience)
            except TimeoutError:
                raise Refusal(503, "The server is busy: try again later.", RETRY) from None
            jobs = [_Job(search, text, loop.create_future()) for text in texts]
            self._queue.extend(jobs)
            self._characters += size
            self._changed.notify_all()
        return jobs

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: bool(self._queue))
            if len(self._queue) < TEXTS:
                await asyncio.sleep(DELAY)
            jobs = await self._next()
            if not jobs:
                continue
            begin = time.monotonic()
            answers = await loop.run_in_executor(self._thread, _translated, jobs)
            self._translated(len(jobs), time.monotonic() - begin)
            for job, answer in zip(jobs, answers, strict=True):
                if job.answer.done():
                    continue
                if isinstance(answer, BaseException):
                    job.answer.set_exception(answer)
                else:
                    job.answer.set_result(answer)

    async def _next(self) -> list[_Job]:
        """The next batch, taken out of the queue: the first text, and others of the same search in their order."""
        async with self._changed:
            jobs, left = list[_Job](), deque[_Job]()
            for job in self._queue:
                if job.answer.done():
                    continue
                if len(jobs) < TEXTS and (not jobs or job.search == jobs[0].search):
                    jobs.append(job)
                else:
                    left.append(job)
            self._queue = left
            self._characters = sum(len(job.text) for job in left)
            self._changed.notify_all()
        return jobs


def _translated(jobs: Sequence[_Job]) -> list[Translation | Exception]:
    """An answer for each job; it stops early once nobody waits for any of them."""
    served, options = jobs[0].search
    limits = Limits(cancelled=lambda: all(job.answer.done() for job in jobs))

    def translate(texts: list[str]) -> list[Translation]:
        return served.predictor.translate_text(texts, options, limits=limits)

    try:
        return list(translate([job.text for job in jobs]))
    except AnaphoraError:
        return [_alone(translate, job.text) for job in jobs]  # a text that cannot be translated is refused by itself
    except Exception as error:
        return [error for _ in jobs]


def _alone(translate: Callable[[list[str]], list[Translation]], text: str) -> Translation | Exception:
    try:
        return translate([text])[0]
    except Exception as error:
        return error
