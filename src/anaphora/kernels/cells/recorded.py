"""Units without a derived gradient: autograd records each step on the way forward and undoes it on the way back.

So a new idea can be tried before its gradient is derived, at the price of speed. The rest stays as for every other
unit: the matrices are still multiplied by ``product``, and each of their gradients is one product after the loop.
"""

from abc import abstractmethod
from typing import Any, Protocol

import torch
from torch import Tensor

from anaphora.kernels.cells.cell import Cell, State
from anaphora.kernels.products import PartProducts


class Operands(Protocol):
    """What a step may ask for."""

    def __call__(self, name: str, a_XBK: Tensor) -> Tensor:
        """W a."""

    def vector(self, name: str) -> Tensor:
        """A vector, to add or to scale with."""


class Recorded(Cell):
    """A unit that says how to go forward, and leaves the way back to autograd."""

    @abstractmethod
    def step(self, x_BG: Tensor, state: State, product: Operands) -> State:
        """The new state from the projected input and the state before, in operations that autograd can follow.

        Write ``1 / (1 + torch.exp(-a))`` for sigmoid: see ``kernels/pointwise.py`` for the reason.
        """

    def forward(self, x_BG: Tensor, state: State, product: PartProducts) -> tuple[State, Any]:
        """One step, recorded."""
        with torch.enable_grad():
            # copies, since the blocks that states are views of are written to again at the next step
            given = tuple(tensor.detach().clone().requires_grad_() for tensor in (x_BG, *state))
            record = _Record(product)
            new = self.step(given[0], given[1:], record)
        return tuple(tensor.detach() for tensor in new), (given, new, record)

    def backward(self, saved: Any, dstate: State, product: PartProducts) -> tuple[Tensor, State]:
        """What autograd makes of the record."""
        given, new, record = saved
        record.product = product
        wanted = (*given, *record.vectors.values())
        gradients = torch.autograd.grad(new, wanted, dstate, retain_graph=True, materialize_grads=True)
        for name, dvector in zip(record.vectors, gradients[len(given) :], strict=True):
            product.add_gradient(name, dvector)
        return gradients[0], gradients[1 : len(given)]


class _Record:
    """The products of one step, such that autograd can go back through them."""

    def __init__(self, product: PartProducts) -> None:
        self.product = product
        self.vectors: dict[str, Tensor] = {}

    def __call__(self, name: str, a_XBK: Tensor) -> Tensor:
        y: Tensor = _Product.apply(self, name, a_XBK)  # type: ignore[no-untyped-call]
        return y

    def vector(self, name: str) -> Tensor:
        if name not in self.vectors:
            self.vectors[name] = self.product.vector(name).detach().requires_grad_()
        return self.vectors[name]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, record: _Record, name: str, a_XBK: Tensor) -> Tensor:
        ctx.record, ctx.name = record, name
        return record.product(name, a_XBK)

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.record.product.back(ctx.name, dy[0])
