"""The time loop as a list of operations that C runs for all steps in one call.

A part writes its steps in the operations of ``ops.py``, which a ``Recorder`` (``recorder.py``) lists here over
``Value``s: rows that lie where the list says. ``native.py`` runs the list.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.gemm import PackedMatrix
from anaphora.kernels.compiled.library import Array, empty, thread_count
from anaphora.kernels.compiled.loop import CAN_ADD, Operand, Place, entries, loop
from anaphora.kernels.matrices import Matrices
from anaphora.kernels.prepared import Weight, array_of
from anaphora.kernels.rows import Rows

_ALIGNED = 16
"""Numbers in 64 bytes, what a processor fetches at once."""

ALONE = 1 << 18
"""Multiply-adds of a product below which a second thread costs more than it gives."""

_WIDTHS = {
    "additive_step": "S SA A SA A 2 SF FA",
    "fixed_norm_rows": "W W 1 1",
    "gate_rows": "W 1 1 W",
    "gaussian_window": "S 3K K 2 1",
    "dot_positions": "S H SH 2",
    "gru_gates": "2H H 3H H",
    "gru_new_keep": "H H H 3H 2H H",
    "gru_new_new": "H H H 3H 2H H",
    "gru_step_keep": "3H H H 3H H",
    "gru_step_new": "3H H H 3H H",
    "location_features": "SF S FK 2",
    "look_up": "W 1 W 1",
    "lstm_step": "4H H H H 4H H",
    "maxout_rows": "W 2W",
    "mix_positions": "W S SW 2",
    "monotonic_window": "2 1 1 1",
    "normal_rows": "W 1 1 W W",
    "predictive_window": "2 S 1 S 1 1 1",
    "softmax_positions": "S S 2 1",
    "window_move": "K K 3K K 1",
}
"""Widths of operands by function, those that it writes first: products of numbers and of sizes named by a letter."""

_ALIKE = {"add_rows", "add_vector", "copy_rows", "multiply_rows", "multiply_vector", "relu_rows", "sigmoid_rows"}
_ALIKE |= {"share_gates", "subtract_rows", "tanh_rows", "elman_step_relu", "elman_step_sigmoid", "elman_step_tanh"}
"""Functions whose operands have the same width."""


class Value:
    """Rows of one width that operations read and write; where they lie may be decided later."""

    __slots__ = ("array", "kept", "place", "width")

    def __init__(self, width: int, array: Array | None = None, place: Place = Place.FIXED) -> None:
        """``array`` and ``place``: where the rows lie, if that is known.

        Those of the step before lie in a buffer that begins with the rows before the first step.
        """
        self.width, self.array, self.place = width, array, place
        self.kept = False
        """True if the rows of every step are needed after the loop."""

    @property
    def is_vector(self) -> bool:
        """True if it has the same numbers for all rows."""
        return self.array is not None and self.place is Place.FIXED and len(self.array) == 1


Values = tuple[Value, ...]


class _Step(NamedTuple):
    """An operation whose values may have no place yet."""

    name: str
    writes: list[tuple[Value, bool]]
    """Values that it writes; True if it adds to one."""
    reads: Sequence[Value]


class Lowering:
    """The operations of one direction of a loop, and the memory that they work in."""

    def __init__(
        self, matmuls: Matrices, rows: Rows, keeps: bool, hypotheses: int = 1, back_from: "Lowering | None" = None
    ):
        """Nothing is noted yet.

        Args:
            matmuls: the matrices of the pass.
            rows: where the rows lie.
            hypotheses: how many rows a step has for each sentence, in as many groups of all sentences.
            keeps: whether values stay after the loop.
            back_from: the forward pass that this undoes.
        """
        self.matmuls, self.rows, self.hypotheses = matmuls, rows, hypotheses
        self.sentences = rows.active[0] // hypotheses
        self._keeps, self._backward = keeps, back_from is not None
        self._operations: list[_Step] = []
        self._made: list[Value] = []
        self._after: list[Callable[[], None]] = []
        self.packed: dict[str, PackedMatrix] = {}
        """By matrix, the right side of its products; it must be there when they are made."""
        self.of_memory: list[tuple[Value, str, Callable[[Array], Array]]] = []
        """Values read from memory tensors, and how each follows from its tensor."""
        self.asked: dict[str, Weight] = {}
        """The vectors and memory tensors that operations read, by name."""
        self._work = 0
        self.factors: defaultdict[str, list[Value]] = defaultdict(list)
        """By matrix, what it was multiplied by, in the order of the forward pass."""
        if back_from:
            self.factors |= {name: list(values) for name, values in back_from.factors.items()}

    def value(self, width: int) -> Value:
        """Return rows to be written by an operation; going forward they stay if there is a backward pass."""
        made = self.scratch(width)
        made.kept = self._keeps
        return made

    def scratch(self, width: int) -> Value:
        """Return rows that are written anew at every step."""
        made = Value(width)
        self._made.append(made)
        return made

    def constant(self, array: Array) -> Value:
        """Return an array that is the same for all steps; its width is that of all dimensions but the first."""
        return Value(math.prod(array.shape[1:]), np.ascontiguousarray(array, np.float32))

    def of_sentences(self, name: str, change: Callable[[Array], Array]) -> Value:
        """Return ``change`` of a memory tensor as a value, with a row for each sentence."""
        value = self.constant(change(self.memory(name)))
        value.place = Place.OF_SENTENCE
        self.of_memory.append((value, name, change))
        return value

    def number(self, number: float) -> Value:
        """Return one number for all steps and rows."""
        return self.constant(np.full((1, 1), number, np.float32))

    def run(self, name: str, writes: Sequence[Value], reads: Sequence[Value], adds: Sequence[Value] = ()) -> None:
        """Note an operation; it ``adds`` to some of what it writes. ShapeError for operands that do not fit."""
        _check_widths(name, [value.width for value in (*writes, *reads)])
        self._operations.append(_Step(name, [(value, value in adds) for value in writes], reads))

    def multiply(self, name: str, a: Value, back: bool, y: Value | None = None) -> Value:
        """y = W a, or W' a; where ``y`` says, if it is there."""
        packed = self.packed[name] = self.matmuls.packed_right_side(name, back)
        if a.width != packed.K or (y and y.width != packed.N):
            raise ShapeError(f"A product with {name}, {packed.N} x {packed.K}, cannot read rows of width {a.width}.")
        self._work = max(self._work, packed.N * packed.K)
        y = y or self.value(packed.N)
        self.run("product", (y,), (a, Value(0, packed.description)))
        return y

    def sum(self, values: Sequence[Value], keeps: bool = False) -> Value:
        """Return the sum of values, for use at this step alone unless it ``keeps``; of one, the value itself."""
        if len(values) == 1:
            return values[0]
        total = (self.value if keeps else self.scratch)(values[0].width)
        for before, value in zip((values[0], *(total for _ in values[2:])), values[1:], strict=True):
            self.run("add_rows", (total,), (before, value))
        return total

    def add(self, total: Value, value: Value) -> None:
        """Add to rows that are there."""
        self.run("copy_rows", (total,), (value,), adds=(total,))

    def copy(self, total: Value, value: Value) -> Value:
        """Write the value there."""
        self.run("copy_rows", (total,), (value,))
        return total

    def afterwards(self, action: Callable[[], None]) -> None:
        """Do something with what was kept when all steps have been taken."""
        self._after.append(action)

    def all_rows(self, value: Value) -> Array:
        """Return the rows of all steps, R x width, once they have been taken."""
        assert value.array is not None and value.place is not Place.FIXED
        return self.rows.before(value.array) if value.place is Place.BEFORE else value.array

    def vector(self, name: str) -> Array:
        """Return a vector of the weights."""
        self.asked[name] = self.matmuls.given(name)
        return array_of(self.asked[name])

    def memory(self, name: str) -> Array:
        """Return a memory tensor of the sentences of the first step."""
        return self.vector(name)[: self.sentences]

    def finish(self) -> None:
        """Take all steps."""
        self._merge_additions()
        threads = thread_count() if self.is_large else 1
        loop(self.entries(), self.rows.active, self.hypotheses, self._backward, threads)
        actions, self._after = self._after, []  # which hold this: a cycle would keep all rows until it is collected
        for action in actions:
            action()

    def _merge_additions(self) -> None:
        """Drop additions of values that nothing else needs, where the function that writes the value can add itself."""
        reads = Counter(value for one in self._operations for value in one.reads)
        written = {one.writes[CAN_ADD[one.name]] for one in self._operations if one.name in CAN_ADD}
        totals = {
            value: total
            for name, [(total, adds), *_], [value, *_] in self._operations
            if name == "copy_rows" and adds and (value, False) in written and reads[value] == 1 and not value.kept
        }

        def target(value: Value, adds: bool) -> tuple[Value, bool]:
            while value in totals:
                value, adds = totals[value], True
            return value, adds

        self._operations = [
            one._replace(writes=[target(*written) for written in one.writes])
            for one in self._operations
            if totals.keys().isdisjoint(one.reads)
        ]
        self._made = [value for value in self._made if value not in totals]

    def entries(self) -> "array[int]":
        """Return the operations as C takes them, each value at its own place."""
        places, size = self.laid_out()
        arena = empty(size)
        for value, (at, height) in places.items():
            value.array = arena[at : at + height * value.width].reshape(height, value.width)
        return entries(self.operations())

    @property
    def is_large(self) -> bool:
        """True if a step is worth more than one thread."""
        return self._work * len(self.rows) > ALONE * len(self.rows.active)

    def laid_out(self, elsewhere: Container[Value] = ()) -> tuple[dict[Value, tuple[int, int]], int]:
        """Return one arena for all values whose place is open: where each begins and its rows, and the size of all."""
        places, at = dict[Value, tuple[int, int]](), 0
        for value in self._made:
            if value.array is None and value not in elsewhere:
                height = len(self.rows) if value.kept else self.rows.active[0]
                places[value], value.place = (at, height), Place.NOW if height == len(self.rows) else Place.FIXED
                at += -(-height * value.width // _ALIGNED) * _ALIGNED
        return places, at

    def operands(self) -> Iterator[tuple[int, int, Value]]:
        """Yield the number of each operation, that of each of its operands, and the value."""
        for operation, (_, writes, reads) in enumerate(self._operations):
            for operand, value in enumerate((*(value for value, _ in writes), *reads)):
                yield operation, operand, value

    def operations(self) -> Iterator[tuple[str, list[Operand]]]:
        """Yield the operations in order, once every value has its place; one without an array has the address 0."""
        for name, writes, reads in self._operations:
            operands = [self._operand(value, adds) for value, adds in writes]
            yield name, operands + [self._operand(value, False) for value in reads]

    def _operand(self, value: Value, adds: bool) -> Operand:
        if value.array is None:
            return Operand(0, value.width, value.place, adds)
        if not value.array.flags.c_contiguous:
            raise ValueError("an operation of the loop takes contiguous arrays alone.")
        ahead = self.rows.active[0] if value.place is Place.BEFORE else 0
        address = value.array.ctypes.data + ahead * value.width * value.array.itemsize
        return Operand(address, value.width, value.place, adds)


def _check_widths(name: str, widths: Sequence[int]) -> None:
    """Raise ShapeError for operands that a function of C would read or write past their end."""
    form = _WIDTHS.get(name, " ".join("W" * len(widths)) if name in _ALIKE else "").split()
    sizes = dict[str, int]()
    for _ in range(2):
        for factors, width in zip(form, widths, strict=False):
            known = [int(one) if one.isdigit() else sizes.get(one) for one in factors]
            if known.count(None) == 1:
                rest = math.prod(one for one in known if one is not None)
                sizes[factors[known.index(None)]] = width // max(1, rest)
    for factors, width in zip(form, widths, strict=False):
        if width != math.prod(int(one) if one.isdigit() else sizes[one] for one in factors):
            raise ShapeError(f"The operands of {name} should have the widths {' '.join(form)}, but have {widths}.")
