"""The processes that train together, one a rank: they exchange small values, and add up their gradients.

``torchrun`` starts them. A process that it did not start is alone, and for it nothing here does anything. Every rank
makes the same calls in the same order; a user error on one is raised on all, and the first alone has its message.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from anaphora.errors import AnaphoraError, ConfigError, ReportedError, RunError

T = TypeVar("T")

_RESTARTS = "TORCHELASTIC_RESTART_COUNT"
_FAULT = "TORCHELASTIC_ERROR_FILE"
"""Names the file from which torchrun takes the message of a failed rank (``torch.distributed.elastic``'s format)."""

_LONGEST_MEETING = timedelta(minutes=10)
"""Time for all ranks to start."""

_LONGEST_WAIT = timedelta(days=7)
"""Time to wait for others, which may encode a corpus or validate; the end of a process is noticed at once."""


class Ranks:
    """One process alone; ``join_ranks`` gives those that torchrun started."""

    rank = 0
    """Number of this process, from 0."""
    local = 0
    """The same among the processes of this machine."""
    size = 1
    """Number of processes that train together."""
    restarted = False
    """True if torchrun started them again, after one had ended."""

    @property
    def first(self) -> bool:
        """True if this is the rank that writes and reports."""
        return self.rank == 0

    def all_gather(self, value: T) -> list[T]:
        """Return the values of all ranks, by rank; plain values, or tensors on the CPU."""
        return [value]

    def add_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Let every gradient be the sum of those of all ranks; one that no rank has stays None."""

    def run_on_all(self, act: Callable[[], T]) -> list[T]:
        """Return ``act()`` on every rank, once all have done it; a user error of any rank is raised on all."""
        result: list[T] = []
        error: AnaphoraError | None = None
        try:
            result.append(act())
        except AnaphoraError as raised:
            error = raised
        everyone = self.all_gather((result, None if error is None else (str(error), error.exit_code)))
        failed = [(rank, fault) for rank, (_, fault) in enumerate(everyone) if fault]
        if not failed:
            return [value for values, _ in everyone for value in values]
        rank, (message, exit_code) = failed[0]
        message = f"Rank {rank}: {message}" if rank and message else message
        self.note_fault(message)
        if error is not None and self.first:
            raise error
        raise ReportedError(message if self.first else "", exit_code)

    def run_on_each(self, act: Callable[[], T]) -> T:
        """Return ``act()`` of this rank, once all ranks have done it; errors as for ``run_on_all``."""
        result: list[T] = []
        self.run_on_all(lambda: result.append(act()))
        return result[0]

    def run_on_first(self, act: Callable[[], T]) -> T | None:
        """Return ``act()`` on the first rank, which alone does it, the others waiting; None on the others."""
        return self.run_on_each(lambda: act() if self.first else None)

    def broadcast(self, act: Callable[[], T]) -> T:
        """Return ``act()`` of the first rank on every rank; for values as ``gathered`` takes them."""
        return self.run_on_all(lambda: [act()] if self.first else [])[0][0]

    def in_turn(self, act: Callable[[], T]) -> T:
        """Return ``act()`` of this rank; the first rank does it first, so that the others find what it wrote."""
        lead = self.run_on_first(lambda: [act()])
        return self.run_on_each(lambda: lead or [act()])[0]

    def numbers(self, count: int) -> range:
        """Return this rank's part of ``count`` things, numbered from 0: as many as each other's."""
        each = count // self.size
        return range(self.rank * each, (self.rank + 1) * each)

    def note_fault(self, message: str) -> None:
        """Let the launcher report an error in its own summary, since it may end the first rank before that reports."""

    def check_same(self, values: Mapping[str, Any]) -> None:
        """Raise ConfigError where a value differs between ranks, naming it."""
        everyone = self.all_gather(dict(values))

        def check() -> None:
            for rank, theirs in enumerate(everyone):
                for name in sorted(everyone[0].keys() | theirs):
                    here, there = everyone[0].get(name, "absent"), theirs.get(name, "absent")
                    if here != there:
                        raise ConfigError(
                            f"The ranks should train the same, but {name} is {here} on rank 0 and {there} on rank "
                            f"{rank}: start each with the same command, options and data."
                        )

        self.run_on_each(check)


ALONE = Ranks()


class _Together(Ranks):
    """The processes of one torchrun, which have joined a process group."""

    def __init__(self, *, restarted: bool) -> None:
        self.local, self.rank, self.size = int(os.environ["LOCAL_RANK"]), dist.get_rank(), dist.get_world_size()
        self.restarted = restarted

    def all_gather(self, value: T) -> list[T]:
        values: list[Any] = [None] * self.size
        with self._noticing():
            dist.all_gather_object(values, value)
        return values

    def add_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        own = [parameter.grad for parameter in parameters]
        there = parameters[0].new_tensor([grad is not None for grad in own])
        blocks = [
            (torch.zeros_like(parameter) if grad is None else grad.to_dense()).flatten()
            for parameter, grad in zip(parameters, own, strict=True)
        ]
        flat = torch.cat([there, *blocks])
        with self._noticing():
            dist.all_reduce(flat)
        counts, *sums = torch.split(flat, [len(parameters), *map(len, blocks)])
        for parameter, count, total in zip(parameters, counts.tolist(), sums, strict=True):
            parameter.grad = total.view_as(parameter) if count else None

    def note_fault(self, message: str) -> None:
        if place := os.environ.get(_FAULT):
            fault = {"message": message, "extraInfo": {"timestamp": int(time.time())}}
            Path(place).write_text(json.dumps({"message": fault}))

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Raise RunError where another rank is gone."""
        try:
            yield
        except RuntimeError as error:
            raise RunError(
                f"Rank {self.rank} of {self.size} lost the others: one of them ended or cannot be reached. See what it "
                f"reported; the last checkpoint is kept, to resume from."
            ) from error


@contextmanager
def join_ranks() -> Iterator[Ranks]:
    """Yield the ranks that train together: those of torchrun where it started this process, or this process alone.

    On a machine with GPUs, each rank uses the one of its local number. Raises RunError when the others do not come.
    """
    if not (dist.is_available() and dist.is_torchelastic_launched()):
        yield ALONE
        return
    local, on_gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.is_available() and dist.is_nccl_available()
    if on_gpus and local < torch.cuda.device_count():
        torch.cuda.set_device(local)
    try:
        store, rank, size = next(rendezvous("env://", timeout=_LONGEST_MEETING))
        meeting = _meeting(store, rank, size)
        backend = "cpu:gloo,cuda:nccl" if on_gpus else "gloo"
        room = PrefixStore(str(meeting), store)
        dist.init_process_group(backend, store=room, rank=rank, world_size=size, timeout=_LONGEST_WAIT)
    except RuntimeError as error:
        raise RunError(f"The ranks that torchrun started cannot reach each other: {error}.") from error
    try:
        yield _Together(restarted=meeting > 1 or os.environ.get(_RESTARTS, "0") != "0")
    finally:
        dist.destroy_process_group()


def _meeting(store: Store, rank: int, size: int) -> int:
    """Return the number of a meeting, from 1, that only these ranks attend; RuntimeError when some do not come.

    torchrun keeps its store, with the addresses of the dead, when it starts ranks again; and the count of restarts may
    differ between machines. So the first rank opens a meeting, and tells its number to whoever is there until all have
    joined. Each has its own number, as what the dead had left would not be answered.
    """
    own = store.add("arrivals", 1)
    if rank:
        store.set(f"rank {rank}", str(own))
        store.wait([f"answer to {own}"], _LONGEST_MEETING)
        meeting = int(store.get(f"answer to {own}"))
        store.set(f"meeting {meeting} of rank {rank}", "")
        return meeting
    meeting = store.add("meetings", 1)
    waiting, until = set(range(1, size)), time.monotonic() + _LONGEST_MEETING.total_seconds()
    while waiting:
        for other in waiting:
            if store.check([f"rank {other}"]):
                store.set(f"answer to {int(store.get(f'rank {other}'))}", str(meeting))
        waiting = {other for other in waiting if not store.check([f"meeting {meeting} of rank {other}"])}
        if time.monotonic() > until:
            raise RuntimeError(f"{len(waiting)} of {size} have not come")
        time.sleep(0.02)
    return meeting
