"""Units without a derived gradient: autograd records each step on the way forward and undoes it on the backward pass.

So a new idea can be tried before its gradient is derived, at the price of speed. The rest stays as for every other
unit: the matrices are still multiplied by ``ops``, and each of their gradients is one product after the loop.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.ops import Ops

State = tuple[Tensor, ...]
"""``... x H`` tensors in the order of ``Cell.state``; the first, ``h``, is what the unit puts out."""


class Operands(Protocol):
    """Weights and products that a step may ask for."""

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        """W a."""

    def vector(self, name: str) -> Tensor:
        """Return a vector, to add or to scale with."""


class Record:
    """Operands of one step, such that autograd can go back through them."""

    def __init__(self, ops: Ops[Tensor]) -> None:
        self.ops = ops
        self.leaves: dict[str, Tensor] = {}

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        y: Tensor = _Matmul.apply(self, name, a_XBK)  # type: ignore[no-untyped-call]
        return y

    def vector(self, name: str) -> Tensor:
        return self.leaf(name, self.ops.vector)

    def leaf(self, name: str, read: Callable[[str], Tensor]) -> Tensor:
        """Return a weight or a memory tensor as an operation reads it, with a gradient."""
        if name not in self.leaves:
            self.leaves[name] = read(name).detach().requires_grad_()
        return self.leaves[name]


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, record: Record, name: str, a_XBK: Tensor) -> Tensor:
        ctx.record, ctx.name = record, name
        return record.ops.times(name, a_XBK)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.record.ops.back(ctx.name, dy[0])


class AutogradCell(Cell):
    """A unit that says how to go forward, and leaves the backward pass to autograd."""

    @abstractmethod
    def step(self, x_BG: Tensor, state: State, ops: Operands) -> State:
        """Return the new state from the projected input and the state before, in operations that autograd can follow.

        Write ``1 / (1 + torch.exp(-a))`` for sigmoid: see ``kernels/pointwise.py`` for the reason.
        """

    def obstacle(self) -> str:
        return f"autograd runs the unit '{self.kind}'"

    def forward(self, ops: Any, x: Any, state: Any) -> Any:
        """Record one step of tensors."""
        return record_step(ops, (x, *state), lambda given, record: self.step(given[0], given[1:], record))

    def backward(self, ops: Any, saved: Any, dstate: Any) -> Any:
        """Return the gradients that autograd computes from the record."""
        dx, *dbefore = undo_step(ops, saved, dstate)
        return dx, tuple(dbefore)


def record_step(ops: Ops[Tensor], inputs: State, step: Callable[[State, Record], State]) -> tuple[State, Any]:
    """Return the outputs of a step, and the values that ``undo_step`` needs."""
    with torch.enable_grad():
        # copies, since the blocks that states are views of are written to again at the next step
        given = tuple(tensor.detach().clone().requires_grad_() for tensor in inputs)
        record = Record(ops)
        new = step(given, record)
    return tuple(tensor.detach() for tensor in new), (given, new, record)


def undo_step(ops: Any, saved: Any, dnew: State) -> State:
    """Return the gradients of the inputs; those of what the step read are added to theirs."""
    given, new, record = saved
    record.ops = ops
    wanted = (*given, *record.leaves.values())
    gradients = torch.autograd.grad(new, wanted, dnew, retain_graph=True, materialize_grads=True)
    for name, dleaf in zip(record.leaves, gradients[len(given) :], strict=True):
        ops.add_whole_gradient(name, dleaf)
    return gradients[: len(given)]
