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
from anaphora.protocols import PartDescription, SignalRead


class _NotedTensors(dict[str, Tensor]):
    """Tensors that remember which of them were asked for, in order."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__(tensors)
        self.asked: dict[str, Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        return self.asked.setdefault(name, super().__getitem__(name))


@torch.no_grad()
def describe(
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
        of_weights, of_memory = _NotedTensors(weights), _NotedTensors(memory)
        blocks = [signals[read] for read in part.reads]
        ops = Eager(Matmuls(of_weights, of_memory, recording=False), part.name, blocks[0].shape[1])
        written, _ = part.forward(ops, blocks)
        signals.update(zip(part.writes, written, strict=True))
        found.append(
            PartDescription(
                part.name,
                kind_of(part),
                tuple(SignalRead(signal_of(read), is_previous(read)) for read in part.reads),
                part.writes,
                {name: tuple(weight.shape) for name, weight in of_weights.asked.items()},
                tuple(of_memory.asked),
                loop_of.get(part.name, ""),
            )
        )
    return tuple(found)
