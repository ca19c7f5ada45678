"""Worker processes of this machine."""

import multiprocessing
import signal
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Self, cast

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.worker import Assignment, At, Died, Load, Said, working


class LocalProcesses:
    """An engine of spawned processes, each at the other end of a pipe."""

    def __init__(self, load: Load, folder: ShardFolder) -> None:
        """No process is started yet."""
        self._load, self._folder = load, folder
        self._processes = dict[Connection, BaseProcess]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join()

    def start(self) -> Connection:
        spawning = multiprocessing.get_context("spawn")  # a fork would hold the folder's lock past our own death
        ours, its = spawning.Pipe()
        process = spawning.Process(target=_work, args=(its, self._load, self._folder), daemon=True)
        process.start()
        its.close()
        self._processes[ours] = process
        return ours

    def received(self) -> list[tuple[Connection, Said | Died]]:
        ready = [cast(Connection, connection) for connection in wait(list(self._processes))]
        return [(connection, self._from(connection)) for connection in ready]

    def assign(self, worker: Connection, assignment: Assignment) -> None:
        with suppress(ConnectionError):
            worker.send(assignment)

    def dismiss(self, worker: Connection) -> None:
        worker.close()
        self._processes.pop(worker).join()

    def _from(self, connection: Connection) -> Said | Died:
        try:
            said: Said = connection.recv()
            return said
        except (EOFError, ConnectionError):
            process = self._processes[connection]
            self.dismiss(connection)
            return Died(f"worker process {process.pid}", f"exit code {process.exitcode}")


def _work(connection: Connection, load: Load, folder: ShardFolder) -> None:
    """Work until whoever is at the other end of ``connection`` has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers
    worker, assigned = working(load, folder), None
    try:
        while True:
            said = worker.send(assigned)
            connection.send(said)
            assigned = None if isinstance(said, At) else connection.recv()
    except (EOFError, ConnectionError):
        return
