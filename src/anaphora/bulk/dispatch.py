"""Shards are handed out to workers, and what dies with a worker is handed out again.

A worker says which lines it begins with, so that lines that kill it can be told from a worker that was killed by
someone else: lines that were being translated at ``TRIES`` deaths are halved, and each half tried before all else of
its shard, down to one line, which is given up after ``LAST_TRIES`` deaths.
"""

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from typing import Generic, Protocol, TypeVar

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.shard import RefusedLine, Shard
from anaphora.bulk.worker import Assignment, At, Piece, Ready, Said, WorkerDeath, WorkerFailure
from anaphora.errors import ReportedError, RunError
from anaphora.events import Note, Progress, Report
from anaphora.prediction.stream import WINDOW
from anaphora.wording import inflect

TRIES = 2
"""Deaths after which the lines that were being translated are halved."""
LAST_TRIES = 3
"""Deaths after which a single line is given up."""
MOST_UNREADY = 5
"""Workers that may die one after another before any of them has loaded the translator."""


Worker = TypeVar("Worker")


class Engine(AbstractContextManager[object], Protocol[Worker]):
    """Place of workers, each an iterator ``worker.working``; leaving it ends all of them."""

    def start(self) -> Worker:
        """Start a worker, which can be a key of a dictionary."""

    def receive(self) -> list[tuple[Worker, Said | WorkerDeath]]:
        """Wait until a worker says something or has died; nothing comes from the dead and the dismissed."""

    def assign(self, worker: Worker, assignment: Assignment) -> None:
        """Send a shard to a worker that is Ready; if it has died, ``receive`` reports it."""

    def dismiss(self, worker: Worker) -> None:
        """Let a worker that is Ready end."""


class Task:
    """A shard on its way, and what is known of its lines by the workers that died with them."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        count = len(shard.lines)
        self._pieces = [Piece(begin, min(begin + WINDOW, count)) for begin in range(0, count, WINDOW)]
        self._deaths = Counter[Piece]()
        self._given_up = list(shard.unreadable)
        self._piece: Piece | None = None
        """The lines that its worker began with."""
        self.translated = 0
        """Lines before these."""

    def begin(self) -> Assignment:
        """Return it for a worker that begins with it: lines that workers died with come first."""
        self._piece, self.translated = None, 0
        pieces = sorted(self._pieces, key=lambda piece: -self._deaths[piece])  # stable
        return Assignment(self.shard, tuple(pieces), tuple(self._given_up))

    def go_on(self, piece: Piece) -> None:
        """Note that its worker begins with a piece."""
        self.translated += self._piece.end - self._piece.begin if self._piece else 0
        self._piece = piece

    def fail(self) -> None:
        """Note that its worker died."""
        piece = self._piece
        if not piece:
            return
        self._deaths[piece] += 1
        deaths, count = self._deaths[piece], piece.end - piece.begin
        if count == 1 and deaths >= LAST_TRIES:
            line = self.shard.first + piece.begin
            reason = f"Line {line} cannot be translated: {deaths} workers died with it"
            self._given_up.append(RefusedLine(line, reason))
            self._pieces.remove(piece)
        elif count > 1 and deaths >= TRIES:
            halves = piece.halves()
            place = self._pieces.index(piece)
            self._pieces[place : place + 1] = halves
            self._deaths |= Counter(dict.fromkeys(halves, TRIES - 1))  # the next death tells which half it is


class Dispatcher(Generic[Worker]):
    """``count`` workers of an engine that share the shards of a folder."""

    def __init__(self, engine: Engine[Worker], count: int, folder: ShardFolder, report: Report) -> None:
        """No worker is started yet."""
        self._engine, self._count, self._folder, self._report = engine, count, folder, report
        self._workers = dict[Worker, Task | None]()
        """The task of each; None while it loads the translator."""
        self._waiting = deque[Task]()
        self._finished = 0  # lines
        self._unready = 0  # deaths

    def translate(self, shards: Iterator[Shard]) -> int:
        """Translate the shards that the folder lacks, and return how many shards there are.

        Raises the user's error of a worker as ReportedError, RunError where workers die before they have loaded.
        """
        there = 0

        def missing() -> Iterator[Task]:
            nonlocal there
            for shard in shards:
                there += 1
                if self._folder.find(shard):
                    self._finish(shard)
                else:
                    yield Task(shard)

        tasks = missing()
        while True:
            self._employ(tasks)
            if not self._waiting and not any(self._workers.values()):
                return there
            for worker, said in self._engine.receive():
                self._receive(worker, said, tasks)

    def _employ(self, tasks: Iterator[Task]) -> None:
        """Start workers as long as a shard waits for each; they take it when they are ready, which may be never."""
        while len(self._workers) < self._count:
            if list(self._workers.values()).count(None) >= len(self._waiting):
                if not (task := next(tasks, None)):
                    return
                self._waiting.append(task)
            self._workers[self._engine.start()] = None

    def _receive(self, worker: Worker, said: Said | WorkerDeath, tasks: Iterator[Task]) -> None:
        task = self._workers[worker]
        match said:
            case Ready():
                if task:
                    self._finish(task.shard)
                else:
                    self._unready = 0
                self._assign(worker, tasks)
            case At(piece):
                assert task
                task.go_on(piece)
                self._tell()
            case WorkerFailure(message, exit_code):
                raise ReportedError(message, exit_code)
            case WorkerDeath():
                self._bury(worker, said)

    def _assign(self, worker: Worker, tasks: Iterator[Task]) -> None:
        """Give a worker what is next, or let it end."""
        if task := self._next(tasks):
            self._workers[worker] = task
            self._engine.assign(worker, task.begin())
        else:
            del self._workers[worker]
            self._engine.dismiss(worker)

    def _next(self, tasks: Iterator[Task]) -> Task | None:
        while self._waiting:
            task = self._waiting.popleft()
            if not self._folder.find(task.shard):
                return task
            self._finish(task.shard)  # its worker died after it had kept it
        return next(tasks, None)

    def _bury(self, worker: Worker, died: WorkerDeath) -> None:
        """Put back the shard of a worker that died."""
        if task := self._workers.pop(worker):
            task.fail()
            self._waiting.appendleft(task)
            first, last = task.shard.first, task.shard.first + len(task.shard.lines) - 1
            then = f"within lines {first:,} to {last:,}; they are tried again"
        else:
            self._unready += 1
            if self._unready >= MOST_UNREADY:
                raise RunError(
                    f"{inflect(self._unready, 'worker')} died one after another before they had loaded the model (the "
                    f"last: {died.how}). Is there memory for so many? Use fewer workers."
                )
            then = "while it loaded the model; another is started"
        self._report(Note(f"A {died.who} ended ({died.how}) {then}.", warning=True))

    def _finish(self, shard: Shard) -> None:
        self._finished += len(shard.lines)
        self._tell()

    def _tell(self) -> None:
        done = self._finished + sum(task.translated for task in self._workers.values() if task)
        with suppress(OSError):
            self._report(Progress("translate", done, 0, "lines"))
