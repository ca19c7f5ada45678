"""Worker processes of this machine: shards are handed out, and what dies with a worker is handed out again.

A worker says which lines it begins with, so that lines that kill it can be told from a worker that was killed by
someone else: lines that were being translated at ``TRIES`` deaths are halved, and each half tried before all else of
its shard, down to one line, which is given up after ``LAST_TRIES`` deaths.
"""

import multiprocessing
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import cast

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.shard import Refused, Shard
from anaphora.bulk.worker import Assignment, At, Done, Failed, Load, Piece, Ready, Said, work
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


class Task:
    """A shard on its way, and what is known of its lines by the workers that died with them."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        count = len(shard.lines)
        self._pieces = [Piece(begin, min(begin + WINDOW, count)) for begin in range(0, count, WINDOW)]
        self._deaths = Counter[Piece]()
        self._given_up = list[Refused]()

    @property
    def assignment(self) -> Assignment:
        """What a worker is to do: what workers died with comes first."""
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
class _Worker:
    """A worker process, and what it does."""

    process: BaseProcess
    task: Task
    piece: Piece | None = None
    """The lines that it began with."""
    ready: bool = False
    translated: int = field(default=0)
    """Lines of its shard before these."""


class LocalWorkers:
    """``count`` processes that each load a translator, and share the shards of a folder."""

    def __init__(self, count: int, load: Load, folder: ShardFolder, report: Report) -> None:
        """No process is started yet."""
        self._count, self._load, self._folder, self._report = count, load, folder, report
        self._workers = dict[Connection, _Worker]()
        self._again = deque[Task]()
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
        try:
            while True:
                while len(self._workers) < self._count and (task := self._next(tasks)):
                    self._start(task)
                if not self._workers:
                    return there
                for connection in wait(list(self._workers)):
                    self._hear(cast(Connection, connection), tasks)
        finally:
            for worker in self._workers.values():
                worker.process.terminate()
            for worker in self._workers.values():
                worker.process.join()

    def _next(self, tasks: Iterator[Task]) -> Task | None:
        while self._again:
            task = self._again.popleft()
            if not self._folder.find(task.shard):
                return task
            self._finish(task.shard)  # its worker died after it had kept it
        return next(tasks, None)

    def _start(self, task: Task) -> None:
        spawning = multiprocessing.get_context("spawn")  # a fork would hold the folder's lock past our own death
        ours, its = spawning.Pipe()
        process = spawning.Process(target=work, args=(its, self._load, self._folder), daemon=True)
        process.start()
        its.close()
        self._workers[ours] = _Worker(process, task)

    def _hear(self, connection: Connection, tasks: Iterator[Task]) -> None:
        worker = self._workers[connection]
        try:
            said: Said = connection.recv()
            match said:
                case Ready():
                    worker.ready, self._unready = True, 0
                    connection.send(worker.task.assignment)
                case At(piece):
                    worker.translated += worker.piece.end - worker.piece.begin if worker.piece else 0
                    worker.piece = piece
                    self._tell()
                case Done():
                    self._finish(worker.task.shard)
                    worker.piece, worker.translated = None, 0
                    if task := self._next(tasks):
                        worker.task = task
                        connection.send(task.assignment)
                    else:
                        self._dismiss(connection)
                case Failed(message, exit_code):
                    raise ReportedError(message, exit_code)
        except (EOFError, ConnectionError):
            self._bury(connection)

    def _dismiss(self, connection: Connection) -> None:
        """Let a worker end, for which nothing is left."""
        connection.close()
        self._workers.pop(connection).process.join()

    def _bury(self, connection: Connection) -> None:
        """What a worker died with is to be done again."""
        connection.close()
        worker = self._workers.pop(connection)
        worker.process.join()
        how = f"worker process {worker.process.pid} ended (exit code {worker.process.exitcode})"
        if not worker.ready:
            self._unready += 1
            if self._unready >= MOST_UNREADY:
                raise RunError(
                    f"{counted(self._unready, 'worker')} died one after another before they had loaded the model, the "
                    f"last with exit code {worker.process.exitcode}: is there memory for so many? Finished shards are "
                    f"kept: use fewer workers."
                )
            self._report(Note(f"A {how} while it loaded the model; another is started.", warning=True))
        else:
            if worker.piece:
                worker.task.died_at(worker.piece)
            shard = worker.task.shard
            last = shard.first + len(shard.lines) - 1
            self._report(Note(f"A {how} within lines {shard.first:,} to {last:,}; they are tried again.", warning=True))
        self._again.append(worker.task)

    def _finish(self, shard: Shard) -> None:
        self._finished += len(shard.lines)
        self._tell()

    def _tell(self) -> None:
        done = self._finished + sum(worker.translated for worker in self._workers.values())
        with suppress(OSError):
            self._report(Progress("translate", done, 0, "lines"))
