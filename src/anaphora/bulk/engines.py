"""Engines of workers: processes of this machine, or actors of Ray, on this machine or on all machines of a cluster.

An actor translates only while it is asked for what comes next, so that it is known which lines it died with. Ray
neither restarts an actor nor repeats a call: the dispatcher does, by what the folder of shards has.
"""

import os
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Self, cast

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.worker import Assignment, At, Load, Said, WorkerDeath, working
from anaphora.data.processes import Processes
from anaphora.errors import MissingExtraError, RunError
from anaphora.events import Note, Report


class LocalProcesses(Processes):
    """An engine of spawned processes, each at the other end of a pipe."""

    def __init__(self, load: Load, folder: ShardFolder) -> None:
        """No process is started yet."""
        super().__init__()
        self._load, self._folder = load, folder

    def start(self) -> Connection:
        return self.spawn(_work, self._load, self._folder)

    def receive(self) -> list[tuple[Connection, Said | WorkerDeath]]:
        ready = [cast(Connection, connection) for connection in wait(list(self))]
        return [(connection, self._from(connection)) for connection in ready]

    def assign(self, worker: Connection, assignment: Assignment) -> None:
        with suppress(ConnectionError):
            worker.send(assignment)

    def dismiss(self, worker: Connection) -> None:
        worker.close()
        self.pop(worker).join()

    def _from(self, connection: Connection) -> Said | WorkerDeath:
        try:
            said: Said = connection.recv()
            return said
        except (EOFError, ConnectionError):
            process = self[connection]
            self.dismiss(connection)
            return WorkerDeath(f"worker process {process.pid}", f"exit code {process.exitcode}")


def _work(connection: Connection, load: Load, folder: ShardFolder) -> None:
    worker, assigned = working(load, folder), None
    while True:
        said = worker.send(assigned)
        connection.send(said)
        assigned = None if isinstance(said, At) else connection.recv()


ADDRESS = "RAY_ADDRESS"
"""The environment variable that names a cluster."""
USAGE_STATISTICS = "RAY_USAGE_STATS_ENABLED"
"""The environment variable by which Ray sends statistics of its use to its makers, or does not."""


class RayActors:
    """An engine of actors that take ``threads`` CPUs each.

    They run in the cluster that this process has joined already, or else that ``RAY_ADDRESS`` names. Without either,
    Ray is started on this machine for ``count`` of them, and sends no statistics of its use. Every machine needs this
    package, and the run folders and the output under the same paths.
    """

    def __init__(self, load: Load, folder: ShardFolder, count: int, threads: int, report: Report) -> None:
        """Nothing is started yet; MissingExtraError where Ray is not installed."""
        try:
            import ray
        except ImportError:
            raise MissingExtraError("ray", "ray") from None
        self._load, self._folder, self._report = load, folder, report
        self._ray: Any = ray
        self._cpus, self._threads = count * threads, threads
        self._actors = set[Any]()
        self._calls = dict[Any, Any]()
        """The actors that have not answered, by the references of their answers."""

    def __enter__(self) -> Self:
        """Join the cluster; RunError where that is impossible."""
        self._joined = not self._ray.is_initialized()
        if self._joined:
            self._join(os.environ.get(ADDRESS, "local"))
        found = int(self._ray.cluster_resources().get("CPU", 0))
        if found < self._cpus:
            wait = f"Ray has {found} CPUs, but the workers take {self._cpus}: some wait until it has more."
            self._report(Note(wait, warning=True))
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        if self._joined:
            self._ray.shutdown()

    def start(self) -> Any:
        remote = self._ray.remote(num_cpus=self._threads, max_restarts=0, max_task_retries=0)(_Actor)
        actor = remote.remote(self._load, self._folder)
        self._actors.add(actor)
        self._ask(actor)
        return actor

    def receive(self) -> list[tuple[Any, Said | WorkerDeath]]:
        answered, _ = self._ray.wait(list(self._calls))
        return [self._from(self._calls.pop(answer), answer) for answer in answered]

    def assign(self, worker: Any, assignment: Assignment) -> None:
        self._ask(worker, assignment)

    def dismiss(self, worker: Any) -> None:
        self._actors.remove(worker)
        self._ray.kill(worker)

    def _join(self, address: str) -> None:
        here = {"num_cpus": self._cpus, "include_dashboard": False} if address == "local" else {}
        if here:
            os.environ[USAGE_STATISTICS] = "0"  # read by Ray and by the processes that it starts
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", **here)
        except (ConnectionError, RuntimeError, ValueError, SystemExit) as error:
            raise RunError(
                f"Ray ({address}) cannot be reached or started: {error}. Check {ADDRESS}, which names a running "
                f"cluster; without it, Ray is started on this machine."
            ) from None

    def _ask(self, actor: Any, assignment: Assignment | None = None) -> None:
        self._calls[actor.advance.remote(assignment)] = actor

    def _from(self, actor: Any, answer: Any) -> tuple[Any, Said | WorkerDeath]:
        try:
            said: Said = self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            self.dismiss(actor)  # it may be alive, behind a network that is not
            # the message without tracebacks and guesses
            how = str(error).strip().splitlines()[-1].partition(". ")[0].removesuffix(".")
            return actor, WorkerDeath("worker of Ray", how)
        if isinstance(said, At):
            self._ask(actor)
        return actor, said


class _Actor:
    """A worker that goes on when it is asked."""

    def __init__(self, load: Load, folder: ShardFolder) -> None:
        self._worker = working(load, folder)

    def advance(self, assignment: Assignment | None) -> Said:
        return self._worker.send(assignment)
