"""The time loop in C: a list of operations, run for all steps in one call: see ``loop.c``."""

from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from torch import Tensor

from anaphora.kernels.compiled.library import address_of, has, run

_OPERANDS = 10
_NOTHING = (0, 0, 0, 0)


class Place(IntEnum):
    """Where the rows of an operand lie."""

    FIXED = 0
    """In one place for all steps: one row for each sentence, or the same numbers for all."""
    NOW = 1
    """Among the rows of all steps, at those of this one."""
    BEFORE = 2
    """At those of the same sentences a step before; behind as many rows as there are sentences."""


class Operand(NamedTuple):
    """Rows that an operation reads or writes."""

    numbers: Tensor
    """Of the first row of the first step, and what comes after."""
    width: int
    place: Place
    adds: bool = False
    """Whether what is written is added to what is there."""


class Operation(NamedTuple):
    """A function of the library, and its operands in order, those that it writes first."""

    name: str
    operands: Sequence[Operand]


@cache
def has_loop() -> bool:
    """Whether the library has the time loop."""
    return has("loop")


def loop(
    operations: Iterable[Operation],
    active: Sequence[int],
    hypotheses: int = 1,
    backward: bool = False,
    threads: int = 1,
) -> None:
    """Run operations in order for every step.

    Args:
        operations: what to run.
        active: rows of each step, never more than of the step before.
        hypotheses: how many rows there are for each sentence, in as many groups of all sentences.
        backward: whether the last step comes first.
        threads: how many threads share the work.
    """
    numbers = array("q")
    count = 0
    for name, operands in operations:
        numbers.append(address_of(name))
        for tensor, width, place, adds in operands:
            numbers.extend((tensor.data_ptr(), width, place, adds))
        numbers.extend(_NOTHING * (_OPERANDS - len(operands)))
        count += 1
    steps = array("q", active)
    (at_steps, _), (at_numbers, _) = steps.buffer_info(), numbers.buffer_info()
    run("loop", len(steps), active[0], at_steps, hypotheses, count, at_numbers, int(backward), threads)
