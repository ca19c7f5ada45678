"""Matrices and vectors of one pass over a program, as lists of operations of C read them.

Two kinds of matrix: a weight (N x K) is shared by all rows; a memory matrix (B x K x N) belongs to one sentence. Both
are arrays, or tensors whose memory is read. ``matmul.py`` adds products of tensors, and the gradients.
"""

from collections.abc import Mapping

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.gemm import PackedMatrix
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.prepared import Weight, array_of, packed
from anaphora.kernels.program import Program
from anaphora.kernels.rows import Rows
from anaphora.kernels.runtime import current

Arrays = Mapping[str, Array]
Weights = Mapping[str, Weight]


class Matrices:
    """The matrices of a pass in the runtime of its beginning."""

    def __init__(self, weights: Weights, memory: Weights, recording: bool = False) -> None:
        """``weights``: N x K matrices and vectors; ``memory``: B x .. tensors; both by the name ``part.product``."""
        self._weights, self._memory, self._recording = weights, memory, recording
        self._runtime = current()
        self.owner = None if recording else self._runtime.prepared
        """The owner of what outlives this pass, if there is one."""

    def loops_in_c(self, block: Weight) -> bool:
        """True if one call of C takes all steps of a loop; ``block`` is one of its arrays or tensors."""
        return self._runtime.loops_in_c(block, self._recording)

    def check_program(self, program: Program, inputs: Arrays) -> None:
        """Raise ShapeError for a program that C cannot run over such inputs."""
        obstacles, block = [part.obstacle() for part in program.parts], next(iter(inputs.values()))
        if any(obstacles) or not self.loops_in_c(block):
            lacking = ", ".join(filter(None, obstacles)) or f"a loop over {block.dtype} by this backend"
            raise ShapeError(f"C should run a whole program, but lacks {lacking}: run it by torch.")

    def given(self, name: str) -> Weight:
        """Return a weight or a memory tensor as it was given."""
        return self._weights[name] if name in self._weights else self._memory[name]

    def array(self, name: str) -> Array:
        """Return its numbers."""
        return array_of(self.given(name))

    def is_weight(self, name: str) -> bool:
        """True if this is a weight, and not a tensor of the memory."""
        return name in self._weights

    @property
    def first_weight(self) -> Weight:
        """One of the weights, which tells them apart from those of other networks."""
        return next(iter(self._weights.values()))

    @property
    def memory_shapes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Shapes of what each sentence has of a memory tensor, by its name."""
        return tuple((name, tuple(tensor.shape[1:])) for name, tensor in self._memory.items())

    def packed_right_side(self, name: str, back: bool) -> PackedMatrix:
        """Return the right side of a product with W, or with W' going ``back``; where the loop runs in C."""
        return packed(self._weights[name], self._runtime)

    # For the way back: ``Matmuls`` has them

    def record(self, name: str, a_RK: Array, dy_RN: Array, rows: Rows) -> None:
        """Record the operands and the gradients of a product, for all rows of a scan."""
        raise NotImplementedError

    def add_row_sums(self, name: str, rows_RW: Array, by_column: bool = False) -> None:
        """Add the sum of rows to the gradient of a weight, whose numbers they have row after row, or ``by_column``."""
        raise NotImplementedError

    def memory_gradient(self, name: str, rows: int) -> Array:
        """Return the gradient of a memory tensor for its first ``rows`` sentences, to be added to."""
        raise NotImplementedError
