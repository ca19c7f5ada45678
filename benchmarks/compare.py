"""Both sides of a work in alternation, each run in a process of its own."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from anaphora.errors import AnaphoraError
from benchmarks.work import Sample, Setting, Work

_AGREE = 0.01
"""The largest relative difference in what both sides must have in common."""

Result = TypeVar("Result")


class UnequalError(AnaphoraError):
    """The two sides of a work did not do the same work."""


@dataclass(frozen=True)
class Comparison:
    """All runs of one work; run n of both sides stood next to each other in time."""

    work: Work
    ours: tuple[Sample, ...]
    theirs: tuple[Sample, ...]

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
        return self.ratio >= self.work.bar


def compare(work: Work, setting: Setting, rounds: int, said: Callable[[str], None]) -> Comparison:
    """Ours, peer, ours, peer, .. of a prepared work; UnequalError when they turn out to do different work."""
    ours: list[Sample] = []
    theirs: list[Sample] = []
    for number in range(1, rounds + 1):
        with _waiting_like_the_command_line():
            ours.append(in_its_own_process(work.ours, setting))
        theirs.append(in_its_own_process(work.theirs, setting))
        check_equal(work, ours[-1], theirs[-1])
        said(
            f"{work.name} {number}/{rounds}: {ours[-1].rate:,.4g} and {theirs[-1].rate:,.4g} {work.unit}/s, "
            f"{ours[-1].rate / theirs[-1].rate:.2f} times"
        )
    return Comparison(work, tuple(ours), tuple(theirs))


def in_its_own_process(function: Callable[[Setting], Result], setting: Setting) -> Result:
    """Call ``function`` in a fresh interpreter: nothing is warm, and peak memory is its own."""
    os.environ["OMP_NUM_THREADS"] = str(setting.threads)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        result: Result = pool.submit(_in_threads, function, setting).result()
        return result


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
