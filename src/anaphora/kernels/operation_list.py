"""Operations that are listed once and run many times: of steps of search, and of scans without a gradient.

A list is of one stage over certain weights, for sentences of certain lengths. Each run fills in where its tensors lie:
its signals, the memory of its sentences, and room for everything else.
"""

import weakref
from array import array
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array, empty, thread_count
from anaphora.kernels.compiled.loop import Place, entries, loop, place_of
from anaphora.kernels.lowering import Lowering, Value
from anaphora.kernels.matrices import Matrices
from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.prepared import array_of, state_of
from anaphora.kernels.program import Stage
from anaphora.kernels.recorder import Recorder
from anaphora.kernels.rows import Rows

_MOST = 128
"""Lists that are kept of one network."""

_BYTES = 4
"""Bytes of a number."""


class GivenSignal(NamedTuple):
    """A signal that a stage reads, and under which name a run says where it lies."""

    name: str
    width: int
    place: Place = Place.NOW


def operation_list(
    stage: Stage, matmuls: Matrices, rows: Rows, given: Mapping[str, GivenSignal], hypotheses: int = 1
) -> "OperationList":
    """Return the operations of a stage with native bodies, kept while its weights are what they are.

    Args:
        stage: it is not recorded.
        matmuls: the matrices of the pass.
        rows: where the rows lie.
        given: by read, the signals that come from outside.
        hypotheses: as for ``Lowering``.
    """
    key = id(stage), hypotheses, tuple(rows.active), matmuls.memory_shapes, frozenset(given.items())
    own: OrderedDict[Hashable, OperationList] = OrderedDict()
    if matmuls.owner:
        own = matmuls.owner.keep(matmuls.first_weight, "lists", None, OrderedDict)
    found = own.get(key)
    if found is None or not found.suits(matmuls):
        found = OperationList(stage, Lowering(matmuls, rows, keeps=False, hypotheses=hypotheses), given)
        own.pop(key, None)
        own[key] = found
        if len(own) > _MOST:
            own.popitem(last=False)
    return found


class OperationList:
    """Operations of a stage, for sentences of certain lengths."""

    def __init__(self, stage: Stage, ops: Lowering, given: Mapping[str, GivenSignal]) -> None:
        """``ops`` notes the operations."""
        self._stage = stage  # lives on, so that no other has its identity
        values = {read: Value(width, place=place) for read, (_, width, place) in given.items()}
        names = {values[read]: name for read, (name, _, _) in given.items()}
        for part in stage.parts:
            written, _ = part.forward(Recorder(ops, part.name), [values[read] for read in part.reads])
            for signal, value in zip(part.writes, written, strict=True):
                values[signal] = value if signal in stage.inner else self._as_signal(ops, names, signal, value)
        outer = [name for part in stage.parts for name in part.writes if name not in stage.inner]
        self.written = {name: values[name].width for name in outer}
        """The widths of the signals that it writes for others."""
        for read, (name, width, _) in given.items():
            if is_previous(read) and width != self.written.get(signal_of(read), width):
                raise ShapeError(f"{name} should have as many numbers in each step, but starts with {width}.")
        self.is_large = ops.is_large
        """True if a step is worth more than one thread."""
        self._packed = ops.packed
        asked = {name: weight for name, weight in ops.asked.items() if ops.matmuls.is_weight(name)}
        of_weights = {array_of(weight).ctypes.data for weight in asked.values()}
        self._asked = {name: (weakref.ref(weight), state_of(weight)) for name, weight in asked.items()}
        places, self.size = ops.laid_out(names)
        """Numbers of all values that are no signals."""
        self._numbers = entries(ops.operations())
        self.signals, self.others = list[tuple[int, str]](), list[tuple[int, int]]()
        """Places of operands among the ``entries``, with their signals, or with where they begin in that room."""
        self._fixed = list[Array]()  # to be there when they are read, as weights are by themselves
        self._memory = [(name, change, list[int]()) for _, name, change in ops.of_memory]
        of_memory = {value: places for (value, _, _), (_, _, places) in zip(ops.of_memory, self._memory, strict=True)}
        for operation, operand, value in ops.operands():
            place = place_of(operation, operand)
            if value in names:
                self.signals.append((place, names[value]))
            elif value in places:
                self.others.append((place, places[value][0] * _BYTES))
            elif value in of_memory:
                of_memory[value].append(place)
            elif value.array is not None and value.array.ctypes.data not in of_weights:
                self._fixed.append(value.array)

    @staticmethod
    def _as_signal(ops: Lowering, names: dict[Value, str], signal: str, value: Value) -> Value:
        """Return a value that was written, as a signal: it lies where a run says."""
        if value in names:
            value = ops.copy(Value(value.width), value)
        value.place, names[value] = Place.NOW, signal
        return value

    @property
    def memory(self) -> set[str]:
        """The memory tensors that it reads."""
        return {name for name, _, _ in self._memory}

    @property
    def threads(self) -> int:
        """Number of threads that share the work of a step."""
        return thread_count() if self.is_large else 1

    def suits(self, matmuls: Matrices) -> bool:
        """True if this is of its weights."""
        for name, (weight, state) in self._asked.items():
            if weight() is not matmuls.given(name) or state != state_of(matmuls.given(name)):
                return False
        return all(matmuls.packed_right_side(name, back=False) is packed for name, packed in self._packed.items())

    def bind(self, matmuls: Matrices, sentences: int) -> "BoundOperations":
        """Return the list over the memory of so many sentences."""
        numbers, held = array("q", self._numbers), list[Array]()
        for name, change, places in self._memory:
            held.append(np.ascontiguousarray(change(matmuls.array(name)[:sentences]), np.float32))
            if len(held[-1]) != sentences:
                raise ShapeError(f"{name} should have {sentences} rows, one a sentence, not {len(held[-1])}.")
            for place in places:
                numbers[place] = held[-1].ctypes.data
        return BoundOperations(self, numbers, held)


class BoundOperations(NamedTuple):
    """A list over the memory of some sentences."""

    operations: OperationList
    numbers: "array[int]"
    held: list[Array]
    """Tensors of the memory that it reads, a row for each sentence."""

    def fill(self, signals: Mapping[str, Array]) -> tuple["array[int]", Array]:
        """Return the ``entries`` over contiguous signals, and the room for everything else, which must live as long."""
        numbers = array("q", self.numbers)
        others = empty(self.operations.size)
        addresses, first = {name: block.ctypes.data for name, block in signals.items()}, others.ctypes.data
        for place, name in self.operations.signals:
            numbers[place] = addresses[name]
        for place, at in self.operations.others:
            numbers[place] = first + at
        return numbers, others

    def run(self, signals: Mapping[str, Array], active: Sequence[int], hypotheses: int = 1) -> None:
        """Take all steps over contiguous signals: see ``compiled.loop``."""
        numbers, room = self.fill(signals)
        loop(numbers, active, hypotheses, False, self.operations.threads)
        del room  # it was there until now


@lru_cache(maxsize=64)
def one_step(count: int) -> Rows:
    """Return a single step of so many rows."""
    return Rows(np.ones(count, np.int64), 1)
