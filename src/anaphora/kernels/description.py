"""A program described as data: its parts in order, with what each reads, writes and multiplies by.

No part declares its matrices: one step is run over given tensors, and what each part asks for is recorded.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from anaphora.kernels import native
from anaphora.kernels.eager import Eager
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import is_previous, kind_of, previous, signal_of
from anaphora.kernels.program import Program
from anaphora.protocols import PartDescription, Read


class _Recorded(Matmuls):
    """Products that record which tensors are asked for."""

    def __init__(self, weights: Mapping[str, Tensor], memory: Mapping[str, Tensor]) -> None:
        super().__init__(weights, memory, recording=False)
        self.asked: dict[str, None] = {}

    def vector(self, name: str) -> Tensor:
        self.asked[name] = None
        return super().vector(name)

    def sentences(self, name: str, rows: int) -> Tensor:
        self.asked[name] = None
        return super().sentences(name, rows)

    def times(self, name: str, a_XBK: Tensor) -> Tensor:
        self.asked[name] = None
        return super().times(name, a_XBK)

    def attend(self, name: str, a_XBK: Tensor) -> Tensor:
        self.asked[name] = None
        return super().attend(name, a_XBK)


@torch.no_grad()
def described(
    program: Program,
    inputs: Mapping[str, Tensor],
    state: Mapping[str, Tensor],
    weights: Mapping[str, Tensor],
    memory: Mapping[str, Tensor],
) -> tuple[PartDescription, ...]:
    """The parts of a program in order; the tensors are those of ``scan.advance``, and their values do not matter."""
    signals = dict(inputs) | {previous(name): block for name, block in state.items()}
    loop_of = {name: str(loop) for loop in native.loops(program) for name in loop.parts}
    found = []
    for part in program.parts:
        products = _Recorded(weights, memory)
        blocks = [signals[read] for read in part.reads]
        written, _ = part.forward(Eager(products, part.name, blocks[0].shape[1]), blocks)
        signals.update(zip(part.writes, written, strict=True))
        found.append(
            PartDescription(
                part.name,
                kind_of(part),
                tuple(Read(signal_of(read), is_previous(read)) for read in part.reads),
                part.writes,
                {name: tuple(weights[name].shape) for name in products.asked if name in weights},
                tuple(name for name in products.asked if name in memory),
                loop_of.get(part.name, ""),
            )
        )
    return tuple(found)
