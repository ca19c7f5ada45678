"""Operations of a step on rows whose place is decided later: each adds to the list of a loop that C runs."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array, has
from anaphora.kernels.compiled.loop import ADDS, Place
from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.ops import Composition, Gradient, Ops, Writes


class Recorder(Ops[Value]):
    """Operations of one part, in the list of all."""

    def __init__(self, ops: Lowering, part: str) -> None:
        """``part`` is the name in front."""
        self._ops, self.part = ops, part

    def _run(self, name: str, width: int, *reads: Value) -> Value:
        """Return one operation that writes rows of a width."""
        written = self._ops.value(width)
        self._ops.run(name, (written,), reads)
        return written

    def product(self, name: str, a: Value) -> Value:
        self._ops.factors[self.full(name)].append(a)
        return self._ops.multiply(self.full(name), a, back=False)

    def product_back(self, name: str, dy: Value) -> Value:
        self._record(name, dy)
        return self._ops.multiply(self.full(name), dy, back=True)

    def _record(self, name: str, dy: Value) -> None:
        full, ops = self.full(name), self._ops
        a = ops.factors[full].pop()
        dy.kept = True
        ops.afterwards(lambda: ops.matmuls.record(full, ops.all_rows(a), ops.all_rows(dy), ops.rows))

    def mix(self, name: str, a: Value, open_: Value) -> Value:
        self._ops.factors[self.full(name)].append(a)
        return self._run("mix_positions", self._matrix(name).shape[2], a, self.sentences(name), open_)

    def mix_back(self, name: str, dy: Value, open_: Value) -> Value:
        self._record(name, dy)
        return self._run("dot_positions", self._matrix(name).shape[1], dy, self.sentences(name), open_)

    def dot(self, name: str, a: Value, open_: Value) -> Value:
        self._ops.factors[self.full(name)].append(a)
        return self._run("dot_positions", self._matrix(name).shape[2], a, self._transposed_value(name), open_)

    def dot_back(self, name: str, dy: Value, open_: Value) -> Value:
        self._record(name, dy)
        return self._run("mix_positions", self._matrix(name).shape[1], dy, self._transposed_value(name), open_)

    def vector(self, name: str) -> Value:
        return self._ops.constant(self._ops.vector(self.full(name)).reshape(1, -1))

    def columns(self, name: str) -> Value:
        matrix = self._ops.vector(self.full(name))
        return self._ops.constant(matrix.reshape(len(matrix), -1).T.reshape(1, -1))

    def add_vector_gradient(self, name: str, dy: Value) -> None:
        full, ops = self.full(name), self._ops
        size = math.prod(ops.matmuls.given(full).shape)
        dy.kept = True
        ops.afterwards(lambda: ops.matmuls.add_row_sums(full, ops.all_rows(dy)[:, -size:]))

    def sentences(self, name: str) -> Value:
        change = partial(_within, self.positions) if name == "length" else np.asarray
        return self._ops.of_sentences(self.full(name), change)

    def add_gradient(self, name: str, d: Value) -> None:
        self._ops.add(self._gradient(Gradient(name)), d)

    def look_up(self, rows: Value, name: str) -> Value:
        table = self._ops.constant(self._ops.vector(self.full(name)))
        return self._run("look_up", table.width, rows, table, self.number(1))

    def number(self, number: float) -> Value:
        return self._ops.number(number)

    def zeros(self, width: int) -> Value:
        return Value(width, np.zeros((self._ops.sentences, width), np.float32), Place.OF_SENTENCE)

    def width(self, a: Value) -> int:
        return a.width

    def or_zeros(self, gradient: Value | None, width: int) -> Value:
        return gradient or self.zeros(width)

    def split(self, a: Value, *blocks: int) -> Sequence[Value]:
        width = a.width // sum(blocks)
        pairs = zip(blocks, accumulate(blocks, initial=0), strict=False)
        return [self._run("take_columns", width * n, a, self.number(width * at)) for n, at in pairs]

    def join(self, *blocks: Value) -> Value:
        return self._run("join_rows", sum(block.width for block in blocks), *blocks)

    def every_step(self, of_sentence: Value, like: Value) -> Value:
        return self._run("copy_rows", of_sentence.width, of_sentence)

    def sum(self, values: Sequence[Value], keeps: bool = False) -> Value:
        return self._ops.sum(values, keeps)

    def accumulate(self, total: Value, a: Value) -> Value:
        self._ops.add(total, a)
        return total

    def add_vector(self, a: Value, name: str) -> Value:
        vector = self.vector(name)
        if vector.width > a.width:
            raise ShapeError(f"{self.full(name)}, of {vector.width} numbers, cannot be added to rows of {a.width}.")
        self._ops.run("add_vector" if vector.width == a.width else "add_to_last", (a,), (a, vector))
        return a

    def add_number(self, a: Value, number: float) -> Value:
        return self._run("add_vector", a.width, a, self.number(number))

    def sub(self, a: Value, b: Value) -> Value:
        return self._run("subtract_rows", a.width, a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self._run("multiply_vector" if b.is_vector else "multiply_rows", a.width, a, b)

    def tanh(self, a: Value) -> Value:
        return self._run("tanh_rows", a.width, a)

    def tanh_back(self, t: Value, dt: Value) -> Value:
        return self._run("tanh_rows_back", t.width, t, dt)

    def sigmoid(self, a: Value) -> Value:
        return self._run("sigmoid_rows", a.width, a)

    def sigmoid_back(self, s: Value, ds: Value) -> Value:
        return self._run("sigmoid_rows_back", s.width, s, ds)

    def relu(self, a: Value) -> Value:
        return self._run("relu_rows", a.width, a)

    def relu_back(self, r: Value, dr: Value) -> Value:
        return self._run("relu_rows_back", r.width, r, dr)

    def maxout(self, t: Value) -> Value:
        return self._run("maxout_rows", t.width // 2, t)

    def maxout_back(self, t: Value, do: Value) -> Value:
        return self._run("maxout_rows_back", t.width, t, do)

    def normal(self, a: Value, gain: str, bias: str = "") -> tuple[Value, Values]:
        y, mean, inverse = self._ops.value(a.width), self._ops.value(1), self._ops.value(1)
        self._ops.run("normal_rows", (y, mean, inverse), (a, self.vector(gain)))
        return self.add_vector(y, bias) if bias else y, (a, mean, inverse)

    def normal_back(self, saved: Values, dy: Value, gain: str) -> Value:
        """da = (dn - mean(dn) - n * mean(dn * n)) / s with dn = dy * gain; dgain is the sum of dy * n over all rows."""
        da = self._ops.value(dy.width)
        self._ops.run("normal_rows_back", (da, self._gradient(Gradient(gain))), (dy, *saved, self.vector(gain)))
        return da

    @property
    def positions(self) -> int:
        return int(self._matrix("closed").shape[-1])

    def whole(self) -> Value:
        return self._ops.of_sentences(self.full("length"), partial(_from_zero, self.positions))

    def softmax(self, e: Value, open_: Value, scale: float) -> Value:
        return self._run("softmax_positions", e.width, e, open_, self.number(scale))

    def softmax_back(self, a: Value, da: Value, open_: Value, scale: float) -> Value:
        return self._run("softmax_positions_back", a.width, a, da, open_, self.number(scale))

    def fuse(
        self, name: str, composition: Composition[Value], inputs: Sequence[Value], writes: Writes[Value]
    ) -> Sequence[Value]:
        if not has(name):
            return composition(self, *inputs)
        written, adds = list[Value](), list[Value]()
        for number, one in enumerate(writes):
            if isinstance(one, int):
                written.append(self._ops.value(one))
                continue
            written.append(self._gradient(one) if isinstance(one, Gradient) else one)
            if isinstance(one, Gradient) or ADDS.get(name) == number:
                adds.append(written[-1])
        self._ops.run(name, written, [value for value in inputs if value not in written], adds)
        return written

    fused_over_memory = fuse

    def _gradient(self, gradient: Gradient) -> Value:
        """Return the gradient of a memory tensor, or for each sentence that of a weight, to be added to."""
        full, ops = self.full(gradient.name), self._ops
        if not ops.matmuls.is_weight(full):
            return ops.constant(ops.matmuls.memory_gradient(full, ops.sentences))
        rows_BW = np.zeros((ops.sentences, math.prod(ops.matmuls.given(full).shape)), np.float32)
        ops.afterwards(lambda: ops.matmuls.add_row_sums(full, rows_BW, gradient.by_column))
        return ops.constant(rows_BW)

    def _matrix(self, name: str) -> Array:
        return self._ops.memory(self.full(name))

    def _transposed_value(self, name: str) -> Value:
        return self._ops.of_sentences(self.full(name), _transpose_memory)


# What operations read of memory. Lists outlive the memory that they were made with, so nothing here holds any of it.


def _within(positions: int, lengths_B1: Array) -> Array:
    return np.fmin(np.fmax(lengths_B1.astype(np.float32), 0), positions)


def _from_zero(positions: int, lengths_B1: Array) -> Array:
    return np.pad(_within(positions, lengths_B1), ((0, 0), (1, 0)))


def _transpose_memory(matrix_BKN: Array) -> Array:
    return matrix_BKN.transpose(0, 2, 1)
