"""Units without a derived gradient: autograd records each step on the way forward and undoes it on the backward pass.

So a new idea can be tried before its gradient is derived, at the price of speed. The rest stays as for every other
unit: the matrices are still multiplied by ``ops``, and each of their gradients is one product after the loop.
"""

from abc import abstractmethod
from typing import Any, Protocol

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell, State
from anaphora.kernels.ops import Ops


class Operands(Protocol):
    """Weights and products that a step may ask for."""

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        """W a."""

    def vector(self, name: str) -> Tensor:
        """A vector, to add or to scale with."""


class Recorded(Cell):
    """A unit that says how to go forward, and leaves the backward pass to autograd."""

    @abstractmethod
    def step(self, x_BG: Tensor, state: State, ops: Operands) -> State:
        """The new state from the projected input and the state before, in operations that autograd can follow.

        Write ``1 / (1 + torch.exp(-a))`` for sigmoid: see ``kernels/pointwise.py`` for the reason.
        """

    def obstacle(self) -> str:
        return f"autograd runs the unit '{self.kind}'"

    def forward(self, ops: Any, x: Any, state: Any) -> Any:
        """One step of tensors, recorded."""
        with torch.enable_grad():
            # copies, since the blocks that states are views of are written to again at the next step
            given = tuple(tensor.detach().clone().requires_grad_() for tensor in (x, *state))
            record = _Record(ops)
            new = self.step(given[0], given[1:], record)
        return tuple(tensor.detach() for tensor in new), (given, new, record)

    def backward(self, ops: Any, saved: Any, dstate: Any) -> Any:
        """Return the gradients that autograd computes from the record."""
        given, new, record = saved
        record.ops = ops
        wanted = (*given, *record.vectors.values())
        gradients = torch.autograd.grad(new, wanted, dstate, retain_graph=True, materialize_grads=True)
        for name, dvector in zip(record.vectors, gradients[len(given) :], strict=True):
            ops.add_whole_gradient(name, dvector)
        return gradients[0], gradients[1 : len(given)]


class _Record:
    """The products of one step, such that autograd can go back through them."""

    def __init__(self, ops: Ops[Tensor]) -> None:
        self.ops = ops
        self.vectors: dict[str, Tensor] = {}

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        y: Tensor = _Matmul.apply(self, name, a_XBK)  # type: ignore[no-untyped-call]
        return y

    def vector(self, name: str) -> Tensor:
        if name not in self.vectors:
            self.vectors[name] = self.ops.vector(name).detach().requires_grad_()
        return self.vectors[name]


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, record: _Record, name: str, a_XBK: Tensor) -> Tensor:
        ctx.record, ctx.name = record, name
        return record.ops.times(name, a_XBK)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.record.ops.back(ctx.name, dy[0])
