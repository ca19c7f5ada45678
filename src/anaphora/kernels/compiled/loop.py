"""The time loop in C: a list of operations, run for all steps in one call: see ``loop.c``."""

from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from anaphora.kernels.compiled.library import address_of, has, run

_OPERANDS = 10
_NOTHING = (0, 0, 0, 0)
_ENTRY = 1 + _OPERANDS * len(_NOTHING)


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

    address: int
    """Of the first number of the first step."""
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


def entries(operations: Iterable[Operation]) -> "array[int]":
    """Operations as ``loop`` takes them."""
    numbers = array("q")
    for name, operands in operations:
        numbers.append(address_of(name))
        for operand in operands:
            numbers.extend(operand)
        numbers.extend(_NOTHING * (_OPERANDS - len(operands)))
    return numbers


def place_of(operation: int, operand: int) -> int:
    """Where among the numbers of ``entries`` the address of an operand stands, both counted from 0."""
    return operation * _ENTRY + 1 + operand * len(_NOTHING)


def loop(numbers: "array[int]", active: Sequence[int], hypotheses: int, backward: bool, threads: int) -> None:
    """Run operations in order for every step.

    Args:
        numbers: what to run: ``entries``. The memory that they point to must be there.
        active: rows of each step, never more than of the step before.
        hypotheses: how many rows there are for each sentence, in as many groups of all sentences.
        backward: whether the last step comes first.
        threads: how many threads share the work.
    """
    steps = array("q", active)
    (at_steps, _), (at_numbers, count) = steps.buffer_info(), numbers.buffer_info()
    run("loop", len(steps), active[0], at_steps, hypotheses, count // _ENTRY, at_numbers, int(backward), threads)
