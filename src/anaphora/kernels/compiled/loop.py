"""The time loop in C: a list of operations, run for all steps in one call: see ``loop.c``."""

import math
from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from anaphora.kernels.compiled.library import Array, address_of, call, has, run, thread_count

_OPERANDS = 10
_ALONE = 1 << 14
"""Numbers of a pointwise operation below which a second thread costs more than it gives."""
_NOTHING = (0, 0, 0, 0)
_ENTRY = 1 + _OPERANDS * len(_NOTHING)


class Place(IntEnum):
    """Buffer in which the rows of an operand lie."""

    FIXED = 0
    """One place for all steps: the same numbers for all, or one row for each sentence where a step has one too."""
    NOW = 1
    """Among the rows of all steps, at those of this one."""
    BEFORE = 2
    """At those of the same sentences a step before; behind as many rows as there are sentences."""
    OF_SENTENCE = 3
    """One place for all steps: one row for each sentence."""
    ROOM_OF_THREAD = 4
    """Room for the rows that a thread takes at once."""


class Operand(NamedTuple):
    """Rows that an operation reads or writes."""

    address: int
    """Address of the first number of the first step."""
    width: int
    place: Place
    adds: bool = False
    """True if what is written is added to what is there."""


@cache
def has_loop() -> bool:
    """True if the library has the time loop."""
    return has("loop")


def entries(operations: Iterable[tuple[str, Sequence[Operand]]]) -> "array[int]":
    """Operations as ``loop`` takes them: functions of the library with operands in order, what they write first."""
    numbers = array("q")
    for name, operands in operations:
        numbers.append(address_of(name))
        for operand in operands:
            numbers.extend(operand)
        numbers.extend(_NOTHING * (_OPERANDS - len(operands)))
    return numbers


def entries_in(numbers: "array[int]") -> tuple[int, int]:
    """Return the address of ``entries``, and their number."""
    address, count = numbers.buffer_info()
    return address, count // _ENTRY


class StepEntries(NamedTuple):
    """Operations of one step of a search; the memory that they point to must outlive them."""

    numbers: "array[int]"
    """``entries`` that each take all rows, and behind them those that some rows after another go through."""
    last: int
    """Number of the latter."""
    some: int
    """Number of these rows."""
    threads: int
    """Number of threads that share the work."""

    def search(self, name: str, first: Sequence[int], rest: Sequence[int]) -> int:
        """Return the result of a search of the library, which is given ``first``, the operations, and the ``rest``."""
        address, count = entries_in(self.numbers)
        return call(name, *first, count, address, self.last, self.some, *rest, self.threads)


def place_of(operation: int, operand: int) -> int:
    """Return the place of an operand's address among the numbers of ``entries``, both counted from 0."""
    return operation * _ENTRY + 1 + operand * len(_NOTHING)


ADDS = {"gru_gates_back": 2}
"""Number of the value, of those that a function overwrites, that it adds to."""
CAN_ADD = {
    "additive_features_back": 0,
    "gaussian_window_back": 1,
    "gru_new_keep_back": 2,
    "gru_new_new_back": 2,
    "gru_step_keep_back": 2,
    "gru_step_new_back": 2,
    "location_features_back": 0,
    "lstm_step_back": 1,
    "mix_positions": 0,
    "multiply_rows": 0,
}
"""Number of the value, of those that a function writes, that it can add to what is there instead."""


def run_once(name: str, writes: Sequence[Array], reads: Sequence[Array]) -> None:
    """Run one function on the rows of contiguous blocks X x B x width of single precision; others are vectors."""
    rows, width = math.prod(writes[0].shape[:2]), sum(block.shape[-1] for block in writes)

    def operand(number: int, block: Array) -> Operand:
        adds = number < len(writes) and ADDS.get(name) == number
        place = Place.NOW if block.ndim > 2 else Place.FIXED
        return Operand(block.ctypes.data, math.prod(block.shape[2:]), place, adds)

    numbers = entries([(name, [operand(*one) for one in enumerate((*writes, *reads))])])
    run("once", rows, entries_in(numbers)[0], thread_count() if rows * width > _ALONE else 1)


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
    (at_steps, _), (at_numbers, count) = steps.buffer_info(), entries_in(numbers)
    run("loop", len(steps), active[0], at_steps, hypotheses, count, at_numbers, int(backward), threads)
