"""What a work is: one thing measured on both sides, in one unit, against one bar."""

import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

Precision = Literal["fp32", "bf16", "int8"]
"""Of matrix products; int8 is of search alone."""


@dataclass(frozen=True)
class Setting:
    """What both sides of every work are run with."""

    threads: int
    """Threads of a matrix product."""
    seed: int
    """Where data order, weights and dropout start from."""
    quick: bool = False
    """Whether this only tries whether everything runs: a few repetitions, no figures."""
    precision: Precision = "fp32"
    """Of matrix products."""

    def repetitions(self, full: int) -> int:
        """How often the timed part is repeated, ``full`` in a real run."""
        return min(full, 2) if self.quick else full


class Sample(NamedTuple):
    """One run of one side."""

    amount: float
    """How much was done, in the work's unit."""
    seconds: float
    """How long that took, without start-up and warm-up."""
    size: Mapping[str, float]
    """What must agree within 1 % between the sides: tokens, parameters, vocabulary."""
    peak_mib: float
    """The most memory that the process ever held."""

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.amount / self.seconds


Side = Callable[[Setting], Sample]
"""One side of a work: a function at the top of a module, since it is run in a process of its own."""


@dataclass(frozen=True)
class Work:
    """One comparison."""

    name: str
    """What ``make bench BENCH="NAME"`` calls it."""
    measures: str
    """What is measured, in a sentence."""
    unit: str
    """What a rate counts, each second."""
    peer: str
    """What it stands beside."""
    bars: Mapping[Precision, float]
    """The precisions that our side is measured in, each with what the ratio of both rates should reach; 0 where nothing
    is asked."""
    prepare: Callable[[], None]
    """Makes what both sides read, or says in one sentence what is missing; not timed."""
    ours: Side
    theirs: Side
    peer_follows: bool = False
    """Whether the peer computes in the precision of our side; else in fp32."""


def peak_mib() -> float:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
