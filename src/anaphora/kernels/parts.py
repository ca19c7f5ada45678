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

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, cast

from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.cells import Cell
from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.normalisation import Normal, UnitLowering, UnitMatmuls

_PREVIOUS = "previous "


def previous(signal: str) -> str:
    """The name under which a part reads what ``signal`` was one step before."""
    return _PREVIOUS + signal


def is_previous(read: str) -> bool:
    """True if this read looks one step back."""
    return read.startswith(_PREVIOUS)


def signal_of(read: str) -> str:
    """The signal that a read looks at, now or one step back."""
    return read.removeprefix(_PREVIOUS)


class Part(Protocol):
    @property
    def name(self) -> str:
        """In front of the names of its weights."""

    by_sentence: ClassVar[bool]
    """True if it looks at memory, so that row b of what it reads must belong to sentence b."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The signals that ``forward`` is given, in order."""

    @property
    def writes(self) -> tuple[str, ...]:
        """The signals that ``forward`` returns, in order."""

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Any]:
        """Return the outputs, and what ``backward`` needs."""

    def backward(self, matmuls: Matmuls, saved: Any, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """The gradient of each signal it read; None for one that has none."""


def kind_of(part: Part) -> str:
    """The class of a part, with the kinds of what it was built from: "Unit (gru)"."""
    built_from = [getattr(part, field.name) for field in fields(cast(Any, part))]
    kinds = [value.kind for value in built_from if isinstance(value, Config) and hasattr(value, "kind")]
    return f"{type(part).__name__} ({', '.join(kinds)})" if kinds else type(part).__name__


@dataclass(frozen=True)
class OneToOne:
    """Base of the parts that make one signal out of another."""

    name: str
    source: str
    target: str

    by_sentence: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def writes(self) -> tuple[str, ...]:
        return (self.target,)

    def obstacle(self) -> str:
        return ""


@dataclass(frozen=True)
class Project(OneToOne):
    """y = W x (+ b): a signal on its way into another part."""

    bias: bool

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = W x (+ b)."""
        matmul = matmuls.of(self.name)
        y = matmul("weight", inputs[0])
        if self.bias:
            y += matmul.vector("bias")
        return (y,), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """dx = W' dy; db = sum dy."""
        matmul = matmuls.of(self.name)
        if self.bias:
            matmul.add_gradient("bias", doutputs[0].sum((0, 1)))
        return (matmul.back("weight", doutputs[0]),)

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, None]:
        """y = W x (+ b)."""
        part = ops.of(self.name)
        y = part("weight", inputs[0])
        if self.bias:
            ops.run("add_vector", (y,), (y, part.vector("bias")))
        return (y,), None

    def lower_back(self, ops: Lowering, saved: None, doutputs: tuple[Value, ...]) -> Values:
        """dx = W' dy; db = sum dy."""
        part = ops.of(self.name)
        if self.bias:
            part.add_vector_gradient("bias", doutputs[0])
        return (part.back("weight", doutputs[0]),)


@dataclass(frozen=True)
class Unit:
    """A recurrent unit; its projected input is the sum of the signals named in ``inputs``.

    It writes one signal for each field of the unit's state: ``<name>.h``, ``<name>.c``. It goes on from its own state
    one step back, or from the state that ``before`` names: two units then make two transitions of one step
    (Pascanu et al. 2014). ``masked``, ``normalised`` and ``conditioned`` say what stands between the unit and its
    recurrent matrices: see ``UnitMatmuls``.
    """

    name: str
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

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Any]:
        count = len(self.inputs)
        x_XBG = sum(inputs[1:count], inputs[0])
        matmul = UnitMatmuls(matmuls, self)
        state, saved = self.cell.forward(x_XBG, inputs[count:], matmul)
        return state, (saved, matmul.normals)

    def inside(self, saved: tuple[Any, list[tuple[str, Normal[Tensor]]]]) -> dict[str, Tensor]:
        """The gates of a step by name: see ``observer.Opened``."""
        return self.cell.gates_of(saved[0])

    def backward(
        self, matmuls: Matmuls, saved: tuple[Any, list[tuple[str, Normal[Tensor]]]], doutputs: tuple[Tensor, ...]
    ) -> tuple[Tensor, ...]:
        of_cell, normals = saved
        matmul = UnitMatmuls(matmuls, self, normals)
        dx_XBG, dstate = self.cell.backward(of_cell, doutputs, matmul)
        return (dx_XBG,) * len(self.inputs) + tuple(dstate)

    def obstacle(self) -> str:
        """That of the unit."""
        return self.cell.obstacle()

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Any]:
        count = len(self.inputs)
        matmul = UnitLowering(ops, self)
        state, saved = self.cell.lower(ops.sum(inputs[:count]), inputs[count:], matmul)
        return state, (saved, matmul.normals)

    def lower_back(
        self,
        ops: Lowering,
        saved: tuple[Any, list[tuple[str, Normal[Value]]]],
        doutputs: tuple[Value | None, ...],
    ) -> tuple[Value, ...]:
        of_cell, normals = saved
        matmul = UnitLowering(ops, self, normals)
        dx, dstate = self.cell.lower_back(of_cell, doutputs, matmul)
        return (dx,) * len(self.inputs) + tuple(dstate)


@dataclass(frozen=True)
class Mask(OneToOne):
    """y = x * mask: dropout, with a ready mask that comes as a signal of its own and has no gradient."""

    mask: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, self.mask)

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Tensor]:
        """y = x * mask."""
        x, mask = inputs
        return (x * mask,), mask

    def backward(self, matmuls: Matmuls, saved: Tensor, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """dx = dy * mask."""
        return (doutputs[0] * saved, None)

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Value]:
        """y = x * mask."""
        y = ops.value(inputs[0].width)
        ops.run("multiply_rows", (y,), inputs)
        return (y,), inputs[1]

    def lower_back(self, ops: Lowering, saved: Value, doutputs: tuple[Value, ...]) -> tuple[Value | None, ...]:
        """dx = dy * mask."""
        dx = ops.value(doutputs[0].width, merges=True)
        ops.run("multiply_rows", (dx,), (doutputs[0], saved))
        return (dx, None)


@dataclass(frozen=True)
class SentenceMask(OneToOne):
    """y = x * mask with one mask for all steps of a sentence: the memory tensor ``<name>.mask`` (B x width)."""

    by_sentence: ClassVar[bool] = True

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = x * mask."""
        return (inputs[0] * matmuls.of(self.name).sentences("mask", inputs[0].shape[1]),), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """dx = dy * mask."""
        return (doutputs[0] * matmuls.of(self.name).sentences("mask", doutputs[0].shape[1]),)

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, None]:
        """y = x * mask."""
        y = ops.value(inputs[0].width)
        ops.run("multiply_rows", (y,), (inputs[0], ops.of(self.name).sentences("mask")))
        return (y,), None

    def lower_back(self, ops: Lowering, saved: None, doutputs: tuple[Value, ...]) -> Values:
        """dx = dy * mask."""
        dx = ops.value(doutputs[0].width, merges=True)
        ops.run("multiply_rows", (dx,), (doutputs[0], ops.of(self.name).sentences("mask")))
        return (dx,)
