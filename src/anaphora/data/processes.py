"""Processes that work at the other end of a pipe.

They are spawned: a forked one would hold the lock of a run folder past the death of this process. They end when the
other end of their pipe does.
"""

import multiprocessing
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self


class Processes(dict[Connection, BaseProcess]):
    """Processes by the ends of their pipes; leaving it ends them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.values():
            process.terminate()
        for process in self.values():
            process.join()

    def spawn(self, work: Callable[..., None], *given: Any) -> Connection:
        """Return our end of the pipe of a new process, which calls ``work`` with the other end and ``given``."""
        spawning = multiprocessing.get_context("spawn")
        ours, its = spawning.Pipe()
        process = spawning.Process(target=_run, args=(work, its, *given), daemon=True)
        process.start()
        its.close()
        self[ours] = process
        return ours


def _run(work: Callable[..., None], connection: Connection, *given: Any) -> None:
    """Work until whoever is at the other end of ``connection`` has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its processes
    with suppress(EOFError, ConnectionError):
        work(connection, *given)
