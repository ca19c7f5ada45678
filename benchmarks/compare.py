"""Both sides of a work in alternation, each run in a process of its own."""

import json
import multiprocessing
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from typing import Any, NamedTuple, TypeVar

from anaphora.errors import AnaphoraError
from benchmarks.machine import OtherWork
from benchmarks.work import Precision, Sample, Setting, Work

_AGREE = 0.01
"""The largest relative difference in what both sides must have in common."""

_DISTURBED, _TRIES = 0.2, 3
"""A round beside which other programs kept so many cores at work is repeated; so many times at most."""

Result = TypeVar("Result")


class UnequalError(AnaphoraError):
    """The two sides of a work did not do the same work."""


class EndedError(AnaphoraError):
    """A process ended with an error."""


@dataclass(frozen=True)
class Comparison:
    """All runs of one work in one precision of ours; run n of both sides stood next to each other in time."""

    work: Work
    precision: Precision
    ours: tuple[Sample, ...]
    theirs: tuple[Sample, ...]
    disturbed: int = 0
    """Rounds beside which other programs ran at every try."""

    @property
    def ratios(self) -> tuple[float, ...]:
        """Our rate as a multiple of the peer's, by round."""
        return tuple(our.rate / their.rate for our, their in zip(self.ours, self.theirs, strict=True))

    @property
    def ratio(self) -> float:
        """The median over the rounds."""
        return median(self.ratios)

    @property
    def reached(self) -> bool:
        """Whether the bar is reached (always, where there is none)."""
        return self.ratio >= self.work.bars[self.precision]


class _Round(NamedTuple):
    """Both sides next to each other, by precision of ours."""

    ours: dict[Precision, Sample]
    theirs: dict[Precision, Sample]
    disturbed: bool


def compare(work: Work, setting: Setting, rounds: int, said: Callable[[str], None]) -> list[Comparison]:
    """Ours, peer, ours, .. of a prepared work, by precision; UnequalError when they turn out to do different work."""
    found: list[_Round] = []
    for number in range(1, rounds + 1):
        found.append(_undisturbed(work, setting, said))
        for precision, our in found[-1].ours.items():
            their = found[-1].theirs[precision]
            said(
                f"{work.name} {precision} {number}/{rounds}: {our.rate:,.4g} and {their.rate:,.4g} {work.unit}/s, "
                f"{our.rate / their.rate:.2f} times"
            )
    return [
        Comparison(
            work,
            precision,
            tuple(one.ours[precision] for one in found),
            tuple(one.theirs[precision] for one in found),
            sum(one.disturbed for one in found),
        )
        for precision in work.bars
    ]


def _undisturbed(work: Work, setting: Setting, said: Callable[[str], None]) -> _Round:
    """A round, repeated while other programs run beside it."""
    for _ in range(1 if setting.quick else _TRIES):
        others = OtherWork()
        ours, theirs = _both(work, setting)
        if (cores := others.cores()) < _DISTURBED:
            return _Round(ours, theirs, disturbed=False)
        said(f"{work.name}: other programs kept {cores:.1f} cores at work beside this round.")
    return _Round(ours, theirs, disturbed=True)


def _both(work: Work, setting: Setting) -> tuple[dict[Precision, Sample], dict[Precision, Sample]]:
    ours: dict[Precision, Sample] = {}
    theirs: dict[Precision, Sample] = {}
    peer: Sample | None = None
    for precision in work.bars:
        with _waiting_like_the_command_line():
            ours[precision] = in_its_own_process(work.ours, replace(setting, precision=precision))
        if peer is None or work.peer_follows:
            peer = in_its_own_process(
                work.theirs, replace(setting, precision=precision if work.peer_follows else "fp32")
            )
        theirs[precision] = peer
        check_equal(work, ours[precision], peer)
    return ours, theirs


def in_its_own_process(function: Callable[[Setting], Result], setting: Setting) -> Result:
    """Call ``function`` in a fresh interpreter: nothing is warm, and peak memory is its own."""
    os.environ["OMP_NUM_THREADS"] = str(setting.threads)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        result: Result = pool.submit(_in_threads, function, setting).result()
        return result


def answers(command: Sequence[str], folder: Path) -> Iterator[Mapping[str, Any]]:
    """Run a command in ``folder`` and yield the lines of JSON that it prints; EndedError with the end of its errors."""
    with (
        TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8") as process,
    ):
        assert process.stdout
        yield from map(json.loads, process.stdout)
        if process.wait():
            errors.seek(0)
            raise EndedError(f"{shlex.join(command)} ended with an error:\n{errors.read()[-2000:]}")


def _in_threads(function: Callable[[Setting], Any], setting: Setting) -> Any:
    import torch

    torch.set_num_threads(setting.threads)
    return function(setting)


@contextmanager
def _waiting_like_the_command_line() -> Iterator[None]:
    """Let our threads wait as ``anaphora`` makes them wait; the peer's wait as they would without us."""
    before = os.environ.get("GOMP_SPINCOUNT")
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    try:
        yield
    finally:
        if before is None:
            del os.environ["GOMP_SPINCOUNT"]


def check_equal(work: Work, ours: Sample, theirs: Sample) -> None:
    """UnequalError when two runs differ in what both sides must have in common."""
    if ours.size.keys() != theirs.size.keys():
        raise UnequalError(f"{work.name}: our side counts {sorted(ours.size)}, the peer's {sorted(theirs.size)}.")
    for what, our in ours.size.items():
        their = theirs.size[what]
        if abs(our - their) > _AGREE * their:
            raise UnequalError(
                f"{work.name}: both sides should agree in {what} within {_AGREE:.0%}, but ours has {our:,.0f} and the "
                f"peer {their:,.0f}: there is no ratio to report."
            )
