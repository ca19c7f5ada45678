"""Operations that a step is written in, once, forward and backward.

What a part computes is written over values ``V``. There are five kinds of them:

    Eager        tensors, computed at once (``eager.py``): on GPUs, under observers, in float64
    Recorder     rows whose place is decided later (``recorder.py``): a list of operations that C runs for all steps
    ArrayOps     arrays of numpy, for parts that C has no body for (``inference/array_ops.py``), forward alone
    OnnxWriter   names of tensors in a graph (``export/parts.py``), forward alone
    StepRecorder names of values (``inspection/microscope/steps.py``): a list that a page computes, forward alone

A fused operation is a function in C that does several of them at once. Its composition of simpler operations stands in
the part, beside its use, and takes its place where the library does not have it. How rows lie, and when the gradients
of weights are multiplied out, is no part's business.
"""

# mypy: disable-error-code="empty-body"

import math
from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from types import FunctionType
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")
V = TypeVar("V")

Composition = Callable[..., Sequence[V]]
"""Operations and inputs to outputs."""


class Gradient(NamedTuple):
    """The gradient of a weight or of a memory tensor, as something that a fused operation adds to."""

    name: str
    by_column: bool = False
    """True if a matrix is read column after column (``Ops.columns``)."""


Writes = Sequence[int | V | Gradient]
"""Outputs of a fused operation: each its width, the input that it overwrites, or a gradient that it adds to."""


def _left_to_subclasses(interface: type[T]) -> type[T]:
    """Let methods that a subclass does not have raise NotImplementedError."""

    def lacking(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def refuse(*arguments: Any, **options: Any) -> Any:
            raise NotImplementedError(method.__name__)

        return refuse

    for name, method in [*vars(interface).items()]:
        if isinstance(method, FunctionType):
            setattr(interface, name, lacking(method))
    return interface


@_left_to_subclasses
class Primitives(Generic[V]):
    """Operations that a kind of them has of its own, or lacks."""

    # Products

    def product(self, name: str, a: V) -> V:
        """y = W a and nothing else."""

    def product_back(self, name: str, dy: V) -> V:
        """da = W' dy and nothing else."""

    def mix(self, name: str, a: V, open_: V) -> V:
        """y = a M_b: the sum of the rows of a memory matrix, one for each position, by their weights."""

    def mix_back(self, name: str, dy: V, open_: V) -> V:
        """da = dy M_b', and the record of dM_b = sum a' dy."""

    def dot(self, name: str, a: V, open_: V) -> V:
        """y = a M_b: the product with each column of a memory matrix, one for each position."""

    def dot_back(self, name: str, dy: V, open_: V) -> V:
        """da = dy M_b', and the record of dM_b = sum a' dy."""

    # Weights, memory and their gradients

    def vector(self, name: str) -> V:
        """Return a vector, to add or to scale with."""

    def columns(self, name: str) -> V:
        """Return a matrix, column after column."""

    def add_vector_gradient(self, name: str, dy: V) -> None:
        """Add the sum of dy over all rows to the gradient of a vector; of wider rows that of their last numbers."""

    def sentences(self, name: str) -> V:
        """Return a memory tensor: something of each sentence."""

    def add_gradient(self, name: str, d: V) -> None:
        """Add the sum over all steps to the gradient of a memory tensor."""

    def look_up(self, rows: V, name: str) -> V:
        """Return the rows of a table of weights, by their numbers."""

    def number(self, number: float) -> V:
        """Return one number for all rows."""

    # Shapes

    def width(self, a: V) -> int:
        """Return the number of columns."""

    def or_zeros(self, gradient: V | None, width: int) -> V:
        """Return a gradient, or zeros where nothing depends on a signal."""

    def split(self, a: V, *blocks: int) -> Sequence[V]:
        """Neighbouring columns, as wide as ``blocks`` say in multiples of one width."""

    def join(self, *blocks: V) -> V:
        """Columns side by side: ``split`` undone."""

    # Number by number

    def sum(self, values: Sequence[V], keeps: bool = False) -> V:
        """Return the sum of values; of one, the value itself. It is for use at this step alone unless it ``keeps``."""

    def accumulate(self, total: V, a: V) -> V:
        """Add ``a`` to ``total`` in place; nothing else may read ``total``."""

    def add_vector(self, a: V, name: str) -> V:
        """Add a vector to ``a`` in place, a shorter one to the last numbers; nothing else may read ``a``."""

    def add_number(self, a: V, number: float) -> V:
        """a + number."""

    def sub(self, a: V, b: V) -> V:
        """a - b."""

    def mul(self, a: V, b: V) -> V:
        """a b, number by number."""

    def tanh(self, a: V) -> V:
        """Hyperbolic tangent."""

    def tanh_back(self, t: V, dt: V) -> V:
        """da = dt (1 - t^2) of t = tanh(a)."""

    def sigmoid(self, a: V) -> V:
        """sigm(a) = 1 / (1 + exp(-a))."""

    def sigmoid_back(self, s: V, ds: V) -> V:
        """da = ds (s - s^2) of s = sigm(a)."""

    def relu(self, a: V) -> V:
        """max(a, 0)."""

    def relu_back(self, r: V, dr: V) -> V:
        """da = dr where r = max(a, 0) is not 0."""

    def maxout(self, t: V) -> V:
        """Return the larger of every two neighbours."""

    def maxout_back(self, t: V, do: V) -> V:
        """dt: do for the larger of two neighbours, for the first of equal ones."""

    # Rows

    def normal(self, a: V, gain: str, bias: str = "") -> tuple[V, Any]:
        """Return rows normalised, scaled and shifted by vectors, and what ``normal_back`` needs."""

    def normal_back(self, saved: Any, dy: V, gain: str) -> V:
        """da, and the record of the gain's gradient."""

    # Positions of a sentence: ``open_`` says which are looked at

    @property
    def positions(self) -> int:
        """Positions of the memory."""
        raise NotImplementedError

    def whole(self) -> V:
        """Return all positions of each sentence as open, by the memory tensors ``closed`` and ``length``."""

    def softmax(self, e: V, open_: V, scale: float) -> V:
        """Softmax of the scores times ``scale`` over the open positions, 0 elsewhere."""

    def softmax_back(self, a: V, da: V, open_: V, scale: float) -> V:
        """de = scale a (da - a' da)."""

    # Tensors of more dimensions than rows, which a list for C has none of

    def scale(self, a: V, number: float) -> V:
        """number a."""

    def exp(self, a: V) -> V:
        """e to the power of a."""

    def capped_exp(self, a: V, largest: float) -> tuple[V, V]:
        """exp(min(a, largest)), and its derivative: 0 beyond."""

    def log_sigmoid(self, a: V) -> V:
        """ln sigm(a)."""

    def log_sigmoid_back(self, f: V, df: V) -> V:
        """da = df (1 - sigm(a)) of f = ln sigm(a)."""

    def minimum(self, a: V, b: V) -> V:
        """Return the smaller of two."""

    def row_sum(self, a: V) -> V:
        """Return the sum of each row, as a row of one number."""

    def squeeze(self, a: V) -> V:
        """Return rows of one number as numbers of the row above them."""

    def at_positions(self, a: V) -> V:
        """Return each number as its own row."""

    def over_positions(self, a: V) -> V:
        """Return each row as the row of every position."""

    def sum_positions(self, a: V) -> V:
        """Return the sum of the rows of all positions."""

    def places(self) -> V:
        """1 .. S."""

    def near(self, distance: V, first: int, last: int) -> V:
        """Return which positions are open: those at distances from ``first`` to ``last``, as far as there are any."""

    def only_open(self, a: V, open_: V) -> V:
        """Return zeros where a position is not open."""

    def median(self, weights: V) -> V:
        """Return the first place, from 1, up to which half of the weights lie."""

    def neighbours(self, a: V, radius: int) -> V:
        """Return the numbers around each, from ``radius`` before to ``radius`` behind it, zeros beyond the ends."""

    def neighbours_back(self, d: V, radius: int) -> V:
        """Return the gradient of numbers, from that of ``neighbours``."""

    def cut_or_pad(self, a: V, width: int) -> V:
        """Return the first numbers of each row, with zeros behind them where there are fewer."""

    def column(self, name: str, clock: V) -> tuple[V, Any]:
        """Row t of a memory tensor at step t, a ``clock``, and its place; the last stays."""

    def column_back(self, name: str, places: Any, dy: V) -> None:
        """Record the gradient of ``column``."""


class Ops(Primitives[V]):
    """Operations of one part; its matrices, vectors and memory tensors have short names.

    What an operation returns is a new value, but for ``accumulate`` and ``add_vector``; it changes no other.
    """

    part = ""
    """Name in front of those of its tensors."""
    masked = normalised = conditioned = False
    normals: list[tuple[str, Any]]
    """Values that the normalisation of each product needs to go back, in the order in which they were made."""

    def with_transforms(
        self, masked: bool, normalised: bool, conditioned: bool, normals: Sequence[tuple[str, Any]] = ()
    ) -> "Ops[V]":
        """Return the same, with what may stand between a unit and its matrices. The unit itself knows of none of it.

        With ``masked``, what goes into every product is multiplied by the memory tensor ``mask`` (B x H): dropout of
        the recurrent state with one mask for all steps of a sentence (Gal and Ghahramani 2016, section 4.1). With
        ``normalised``, what comes out of each product is normalised and scaled by a vector, ``h_gain`` for ``h``. With
        ``conditioned``, the memory tensor ``condition`` (B x N) is added to what comes out of product ``h`` alone (Cho
        et al. 2014, appendix A.1.2). To go back, ``normals`` is what it was after going forward.
        """
        own = copy(self)
        own.masked, own.normalised, own.conditioned, own.normals = masked, normalised, conditioned, list(normals)
        return own

    def full(self, name: str) -> str:
        """Return the name of a tensor as the weights and the memory have it."""
        return f"{self.part}.{name}"

    def times(self, name: str, a: V) -> V:
        """y = W a. The operand is kept where there is a backward pass."""
        if self.masked:
            a = self.mul(a, self.sentences("mask"))
        y = self.product(name, a)
        if self.normalised:
            y, saved = self.normal(y, f"{name}_gain")
            self.normals.append((name, saved))
        return self.add(y, self.sentences("condition")) if self.conditioned and name == "h" else y

    def back(self, name: str, dy: V) -> V:
        """da = W' dy. The gradient of W is one product after the loop."""
        if self.conditioned and name == "h":
            self.add_gradient("condition", dy)
        if self.normalised:
            latest = max(number for number, (asked, _) in enumerate(self.normals) if asked == name)
            dy = self.normal_back(self.normals.pop(latest)[1], dy, f"{name}_gain")
        da = self.product_back(name, dy)
        return self.mul(da, self.sentences("mask")) if self.masked else da

    def add(self, a: V, b: V) -> V:
        """a + b."""
        return self.sum((a, b), keeps=True)

    def zeros(self, width: int) -> V:
        """Return zeros for each sentence, by default one number for all."""
        return self.number(0)

    def every_step(self, of_sentence: V, like: V) -> V:
        """Values that each sentence has once, for each row of ``like``; by default as they are, in its only row."""
        return of_sentence

    def fuse(self, name: str, composition: Composition[V], inputs: Sequence[V], writes: Writes[V]) -> Sequence[V]:
        """Several operations on rows by one function in C, or by their composition.

        Args:
            name: the function; it reads the inputs that it does not overwrite, in their order.
            composition: the same of simpler operations of ``self`` over the inputs.
            inputs: values.
            writes: by output.
        """
        return composition(self, *inputs)

    def fused_over_memory(
        self, name: str, composition: Composition[V], inputs: Sequence[V], writes: Writes[V]
    ) -> Sequence[V]:
        """``fuse`` of a function that looks at positions; its composition takes tensors of more dimensions."""
        return composition(self, *inputs)


class BlockOps(Ops[Any]):
    """Operations that arrays and tensors have under the same names: blocks X x B x width, or X x B x S x width."""

    library: Any
    """Module of such arrays."""

    def width(self, a: Any) -> int:
        return math.prod(a.shape[2:])

    def sum(self, values: Sequence[Any], keeps: bool = False) -> Any:
        first, *others = values
        return sum(others, first)

    def sub(self, a: Any, b: Any) -> Any:
        return a - b

    def mul(self, a: Any, b: Any) -> Any:
        return a * b

    def tanh(self, a: Any) -> Any:
        return self.library.tanh(a)

    def exp(self, a: Any) -> Any:
        return self.library.exp(a)

    def minimum(self, a: Any, b: Any) -> Any:
        return self.library.minimum(a, b)

    def maxout(self, t: Any) -> Any:
        return self.library.maximum(t[..., 0::2], t[..., 1::2])

    def join(self, *blocks: Any) -> Any:
        return self.library.concatenate(blocks, -1)

    def add_number(self, a: Any, number: float) -> Any:
        return a + number

    def scale(self, a: Any, number: float) -> Any:
        return a * number

    @property
    def positions(self) -> int:
        return int(self.sentences("closed").shape[1])

    def whole(self) -> Any:
        return self.sentences("closed")

    def squeeze(self, a: Any) -> Any:
        return a[..., 0]

    def at_positions(self, a: Any) -> Any:
        return a[..., None]

    def over_positions(self, a: Any) -> Any:
        return a[..., None, :]

    def near(self, distance: Any, first: int, last: int) -> Any:
        return self.whole() | (distance < first) | (distance > last)
