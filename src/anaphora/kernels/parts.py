"""The parts that a step is built from. A step is an ordered tuple of them; ``scan.py`` runs it forward and back.

A part reads signals and writes signals. A signal is named, and comes as a block X x B x width: X is one step inside
the time loop, all steps for a part that the loop need not wait for, the hypotheses of a sentence in search. Reading
``previous("h")`` gives what ``h`` was one step earlier; whatever is read so is carried from step to step.

    Luong et al. 2015      Cell, Attend(query h), Project, Project, Activate(tanh)
    Bahdanau et al. 2015   Attend(query previous h), Project, Cell, ..
    Sennrich et al. 2017   Cell, Attend(query h), Project, Cell(before h), ..
    a stack of layers      Project, Cell, Project, Cell, ..

``forward`` returns what it wrote and what ``backward`` needs; ``backward`` takes the gradient of each written signal
and returns that of each signal read. Gradients of weights are recorded in the products.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from anaphora.kernels.cells import Cell
from anaphora.kernels.ops import Ops, V
from anaphora.records import Record

_PREVIOUS = "previous "


def previous(signal: str) -> str:
    """Return the name under which a part reads what ``signal`` was one step before."""
    return _PREVIOUS + signal


def is_previous(read: str) -> bool:
    """True if this read looks one step back."""
    return read.startswith(_PREVIOUS)


def signal_of(read: str) -> str:
    """Return the signal that a read looks at, now or one step back."""
    return read.removeprefix(_PREVIOUS)


@dataclass(frozen=True)
class Part(ABC):
    """Base of all parts."""

    name: str
    """Prefix of the names of its weights."""

    by_sentence: ClassVar[bool] = False
    """True if it looks at memory, so that row b of what it reads must belong to sentence b."""

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """The signals that ``forward`` is given, in order."""

    @property
    @abstractmethod
    def writes(self) -> tuple[str, ...]:
        """The signals that ``forward`` returns, in order."""

    @abstractmethod
    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        """Return the outputs, and what ``backward`` needs."""

    @abstractmethod
    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[V | None]:
        """Return the gradient of each signal it read; None for one that has none."""

    def inside(self, saved: Any) -> Mapping[str, Any]:
        """Return what it computes between reading and writing, X x B x width by name, from what ``forward`` saved."""
        return {}

    def obstacle(self) -> str:
        """Why C cannot run it, in a few words; empty where it can."""
        return ""


def kind_of(part: Part) -> str:
    """Return the class of a part, with the kinds of what it was built from: "Unit (gru)"."""
    built_from = [getattr(part, field.name) for field in fields(part)]
    kinds = [value.kind for value in built_from if isinstance(value, Record) and hasattr(value, "kind")]
    return f"{type(part).__name__} ({', '.join(kinds)})" if kinds else type(part).__name__


@dataclass(frozen=True)
class OneToOne(Part):
    """Base of the parts that make one signal out of another."""

    source: str
    target: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def writes(self) -> tuple[str, ...]:
        return (self.target,)


@dataclass(frozen=True)
class Project(OneToOne):
    """y = W x (+ b): a signal on its way into another part."""

    bias: bool

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = W x (+ b)."""
        y = ops.times("weight", inputs[0])
        return [ops.add_vector(y, "bias") if self.bias else y], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[V]:
        """dx = W' dy; db = sum dy."""
        if self.bias:
            ops.add_vector_gradient("bias", doutputs[0])
        return [ops.back("weight", doutputs[0])]


@dataclass(frozen=True)
class Unit(Part):
    """A recurrent unit; its projected input is the sum of the signals named in ``inputs``.

    It writes one signal for each field of the unit's state: ``<name>.h``, ``<name>.c``. It goes on from its own state
    one step back, or from the state that ``before`` names: two units then make two transitions of one step
    (Pascanu et al. 2014). ``masked``, ``normalised`` and ``conditioned`` say what stands between the unit and its
    recurrent matrices: see ``Ops.with_transforms``.
    """

    cell: Cell
    inputs: tuple[str, ...]
    masked: bool = False
    normalised: bool = False
    before: tuple[str, ...] = ()
    conditioned: bool = False

    by_sentence: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return self.inputs + (self.before or tuple(previous(field) for field in self.writes))

    @property
    def writes(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{field}" for field in self.cell.state)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        count = len(self.inputs)
        own = ops.with_transforms(self.masked, self.normalised, self.conditioned)
        state, saved = self.cell.forward(own, ops.sum(inputs[:count]), inputs[count:])
        return state, (saved, own.normals, [own.width(field) for field in state])

    def inside(self, saved: Any) -> dict[str, Any]:
        """Return the gates of a step by name."""
        return self.cell.gates_of(saved[0])

    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[V | None]:
        of_cell, normals, widths = saved
        own = ops.with_transforms(self.masked, self.normalised, self.conditioned, normals)
        dstate = [own.or_zeros(d, width) for d, width in zip(doutputs, widths, strict=True)]
        dx, dbefore = self.cell.backward(own, of_cell, dstate)
        return [*(dx for _ in self.inputs), *dbefore]

    def obstacle(self) -> str:
        return self.cell.obstacle()


@dataclass(frozen=True)
class Mask(OneToOne):
    """y = x * mask: dropout, with a ready mask that comes as a signal and has no gradient."""

    mask: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, self.mask)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], V]:
        """y = x * mask."""
        x, mask = inputs
        return [ops.mul(x, mask)], mask

    def backward(self, ops: Ops[V], saved: V, doutputs: Sequence[V]) -> Sequence[V | None]:
        """dx = dy * mask."""
        return [ops.mul(doutputs[0], saved), None]


@dataclass(frozen=True)
class SentenceMask(OneToOne):
    """y = x * mask with one mask for all steps of a sentence: the memory tensor ``<name>.mask`` (B x width)."""

    by_sentence: ClassVar[bool] = True

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = x * mask."""
        return [ops.mul(inputs[0], ops.sentences("mask"))], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[V]:
        """dx = dy * mask."""
        return [ops.mul(doutputs[0], ops.sentences("mask"))]


@dataclass(frozen=True)
class Gated(OneToOne):
    """One gate for a whole vector, as Gulcehre et al. (2015, section 4.2) let a language model have its say.

    1  g = sigm(a)     one number a row
    2  y = g x
    """

    gate: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.gate, self.source)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], tuple[V, V]]:
        """Steps 1 and 2."""
        y, g = ops.fuse("gate_rows", self._step, inputs, (ops.width(inputs[1]), 1))
        return [y], (g, inputs[1])

    def _step(self, ops: Ops[V], a: V, x: V) -> Sequence[V]:
        g = ops.sigmoid(a)  # 1
        return ops.mul(g, x), g  # 2

    def backward(self, ops: Ops[V], saved: tuple[V, V], doutputs: Sequence[V]) -> Sequence[V]:
        """Steps 2 and 1 undone: dg = x' dy, dx = g dy; da = dg (g - g^2)."""
        read = *saved, doutputs[0]
        return ops.fuse("gate_rows_back", self._step_back, read, (1, ops.width(saved[1])))

    def _step_back(self, ops: Ops[V], g: V, x: V, dy: V) -> Sequence[V]:
        dg = ops.row_sum(ops.mul(x, dy))  # 2
        return ops.sigmoid_back(g, dg), ops.mul(g, dy)  # 1


@dataclass(frozen=True)
class Constant(OneToOne):
    """The memory tensor ``<name>.vector`` (B x width) as a signal; of ``source`` it takes the number of rows alone."""

    by_sentence: ClassVar[bool] = True

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = v at every step."""
        return [ops.every_step(ops.sentences("vector"), inputs[0])], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[None]:
        """dv = sum of dy over the steps."""
        ops.add_gradient("vector", doutputs[0])
        return [None]


@dataclass(frozen=True)
class Column(OneToOne):
    """The memory tensor ``<name>.columns`` (B x C x width) as a signal: column t at step t, a clock; the last stays."""

    by_sentence: ClassVar[bool] = True

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        """y_t = v_t."""
        y, places = ops.column("columns", inputs[0])
        return [y], places

    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[None]:
        """dv_t += dy_t; nobody derives by the number of a step."""
        ops.column_back("columns", saved, doutputs[0])
        return [None]

    def obstacle(self) -> str:
        return "no native body"


@dataclass(frozen=True)
class Clock(Part):
    """t = t_{t-1} + 1: the number of the step, 1 at the first where ``clock`` starts from 0."""

    name: str = "clock"

    reads: ClassVar[tuple[str, ...]] = (previous("clock"),)
    writes: ClassVar[tuple[str, ...]] = ("clock",)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """t + 1."""
        return [ops.add_number(inputs[0], 1)], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[None]:
        """Nobody derives by the number of a step."""
        return [None]


@dataclass(frozen=True)
class OfSum(Part):
    """Signals of a sum; every input has the same gradient."""

    inputs: tuple[str, ...]
    target: str

    @property
    def reads(self) -> tuple[str, ...]:
        return self.inputs

    @property
    def writes(self) -> tuple[str, ...]:
        return (self.target,)


@dataclass(frozen=True)
class Activate(OfSum):
    """y = tanh(sum of inputs): the combination of context and state in an attentional decoder."""

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], V]:
        """y = tanh(sum)."""
        y = ops.tanh(ops.sum(inputs))
        return [y], y

    def backward(self, ops: Ops[V], saved: V, doutputs: Sequence[V]) -> Sequence[V]:
        """d = dy (1 - y^2), the same for every input."""
        return [ops.tanh_back(saved, doutputs[0])] * len(self.inputs)


@dataclass(frozen=True)
class Add(OfSum):
    """y = sum of inputs: a residual connection around a layer."""

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], None]:
        """y = sum."""
        return [ops.sum(inputs, keeps=True)], None

    def backward(self, ops: Ops[V], saved: None, doutputs: Sequence[V]) -> Sequence[V]:
        """d = dy for every input."""
        return [doutputs[0]] * len(self.inputs)


@dataclass(frozen=True)
class Maxout(OfSum):
    """Maxout over pairs (Goodfellow et al. 2013), as Cho et al. (2014) and Bahdanau et al. (2015, A.2.2) read out.

    1  t   = sum of inputs               2 R numbers
    2  o_j = max(t_{2j-1}, t_{2j})       R numbers

    Of two that are equal, the gradient goes to the first.
    """

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], V]:
        """Steps 1 and 2."""
        t = ops.sum(inputs, keeps=True)  # 1
        return [ops.maxout(t)], t  # 2

    def backward(self, ops: Ops[V], saved: V, doutputs: Sequence[V]) -> Sequence[V]:
        """Step 2 undone; every input has the same gradient."""
        return [ops.maxout_back(saved, doutputs[0])] * len(self.inputs)
