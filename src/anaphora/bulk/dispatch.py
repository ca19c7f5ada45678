"""Shards are handed out to workers, and what dies with a worker is handed out again.

A worker says which lines it begins with, so that lines that kill it can be told from a worker that was killed by
someone else: lines that were being translated at ``TRIES`` deaths are halved, and each half tried before all else of
its shard, down to one line, which is given up after ``LAST_TRIES`` deaths.
"""

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.shard import Refused, Shard
from anaphora.bulk.worker import Assignment, At, Died, Done, Failed, Piece, Ready, Said
from anaphora.errors import ReportedError, RunError
from anaphora.events import Note, Progress, Report
from anaphora.prediction.stream import WINDOW
from anaphora.wording import counted

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

    def received(self) -> list[tuple[Worker, Said | Died]]:
        """Wait until a worker says something or has died; nothing comes from the dead and the dismissed."""

    def assign(self, worker: Worker, assignment: Assignment) -> None:
        """Send a shard to a worker that is Ready or Done; if it has died, ``received`` will report it."""

    def dismiss(self, worker: Worker) -> None:
        """Let a worker that is Ready or Done end."""


class Task:
    """A shard on its way, and what is known of its lines by the workers that died with them."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        count = len(shard.lines)
        self._pieces = [Piece(begin, min(begin + WINDOW, count)) for begin in range(0, count, WINDOW)]
        self._deaths = Counter[Piece]()
        self._given_up = list(shard.unreadable)

    @property
    def assignment(self) -> Assignment:
        """Return the next shard for a worker: those of workers that died come first."""
        pieces = sorted(self._pieces, key=lambda piece: -self._deaths[piece])  # stable
        return Assignment(self.shard, tuple(pieces), tuple(self._given_up))

    def died_at(self, piece: Piece) -> None:
        """A worker died with a piece."""
        self._deaths[piece] += 1
        deaths, count = self._deaths[piece], piece.end - piece.begin
        if count == 1 and deaths >= LAST_TRIES:
            line = self.shard.first + piece.begin
            reason = f"Line {line} cannot be translated: {deaths} workers died with it"
            self._given_up.append(Refused(line, reason))
            self._pieces.remove(piece)
        elif count > 1 and deaths >= TRIES:
            halves = piece.halves()
            place = self._pieces.index(piece)
            self._pieces[place : place + 1] = halves
            self._deaths |= Counter(dict.fromkeys(halves, TRIES - 1))  # the next death tells which half it is


@dataclass
class _State:
    """Work of one worker."""

    ready: bool = False
    task: Task | None = None
    piece: Piece | None = None
    """The lines that it began with."""
    translated: int = 0
    """Lines of its shard before these."""


class Dispatcher(Generic[Worker]):
    """``count`` workers of an engine that share the shards of a folder."""

    def __init__(self, engine: Engine[Worker], count: int, folder: ShardFolder, report: Report) -> None:
        """No worker is started yet."""
        self._engine, self._count, self._folder, self._report = engine, count, folder, report
        self._workers = dict[Worker, _State]()
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
            if not self._waiting and not any(state.task for state in self._workers.values()):
                return there
            for worker, said in self._engine.received():
                self._receive(worker, said, tasks)

    def _employ(self, tasks: Iterator[Task]) -> None:
        """Start workers as long as a shard waits for each; they take it when they are ready, which may be never."""
        while len(self._workers) < self._count:
            if sum(not state.ready for state in self._workers.values()) >= len(self._waiting):
                if not (task := next(tasks, None)):
                    return
                self._waiting.append(task)
            self._workers[self._engine.start()] = _State()

    def _receive(self, worker: Worker, said: Said | Died, tasks: Iterator[Task]) -> None:
        state = self._workers[worker]
        match said:
            case Ready():
                state.ready, self._unready = True, 0
                self._assign(worker, tasks)
            case At(piece):
                state.translated += state.piece.end - state.piece.begin if state.piece else 0
                state.piece = piece
                self._tell()
            case Done():
                assert state.task
                self._finish(state.task.shard)
                self._assign(worker, tasks)
            case Failed(message, exit_code):
                raise ReportedError(message, exit_code)
            case Died():
                self._bury(worker, said)

    def _assign(self, worker: Worker, tasks: Iterator[Task]) -> None:
        """Give a worker what is next, or let it end."""
        if task := self._next(tasks):
            self._workers[worker] = _State(ready=True, task=task)
            self._engine.assign(worker, task.assignment)
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

    def _bury(self, worker: Worker, died: Died) -> None:
        """Put back the shard of a worker that died."""
        state = self._workers.pop(worker)
        if state.task:
            if state.piece:
                state.task.died_at(state.piece)
            self._waiting.appendleft(state.task)
            shard = state.task.shard
            last = shard.first + len(shard.lines) - 1
            then = f"within lines {shard.first:,} to {last:,}; they are tried again"
        else:
            self._unready += 1
            if self._unready >= MOST_UNREADY:
                raise RunError(
                    f"{counted(self._unready, 'worker')} died one after another before they had loaded the model (the "
                    f"last: {died.how}). Is there memory for so many? Use fewer workers."
                )
            then = "while it loaded the model; another is started"
        self._report(Note(f"A {died.who} ended ({died.how}) {then}.", warning=True))

    def _finish(self, shard: Shard) -> None:
        self._finished += len(shard.lines)
        self._tell()

    def _tell(self) -> None:
        done = self._finished + sum(state.translated for state in self._workers.values())
        with suppress(OSError):
            self._report(Progress("translate", done, 0, "lines"))
