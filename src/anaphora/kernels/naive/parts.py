"""Recurrent units of a program by their reference equations: what ``ANAPHORA_KERNELS=naive`` runs, slowly."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeGuard

import torch
from torch import Tensor

from anaphora.kernels.cells import Recorded
from anaphora.kernels.naive.normalised import NORMALISED_UNITS
from anaphora.kernels.naive.unroll import unit
from anaphora.kernels.parts import Part, Unit
from anaphora.kernels.program import Program


@cache
def with_naive_units(program: Program) -> Program:
    """The same program, with each unit replaced by its reference implementation where there is one."""
    return replace(program, parts=tuple(NaiveUnit(part) if _has_reference(part) else part for part in program.parts))


def _has_reference(part: Part) -> TypeGuard[Unit]:
    if not isinstance(part, Unit) or isinstance(part.cell, Recorded):  # autograd runs it already
        return False
    return not part.normalised or type(part.cell) in NORMALISED_UNITS


class _Saved(NamedTuple):
    given: tuple[Tensor, ...]
    """The projected input and the state before."""
    weights: dict[str, Tensor]
    after: tuple[Tensor, ...]


@dataclass(frozen=True)
class NaiveUnit:
    """A unit whose steps follow the equations of the papers, each differentiated by autograd."""

    unit: Unit

    by_sentence: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """That of the unit."""
        return self.unit.name

    @property
    def reads(self) -> tuple[str, ...]:
        """Signals that the unit reads."""
        return self.unit.reads

    @property
    def writes(self) -> tuple[str, ...]:
        """Signals that the unit writes."""
        return self.unit.writes

    @torch.enable_grad()
    def forward(self, ops: Any, inputs: Any) -> Any:
        """One step."""
        count = len(self.unit.inputs)
        weights = {name: ops.vector(name) for name in self._weights()}
        weights |= {"condition": ops.sentences("condition")} if self.unit.conditioned else {}
        weights = {name: _leaf(weight) for name, weight in weights.items()}
        given = tuple(map(_leaf, (sum(inputs[1:count], inputs[0]), *inputs[count:])))
        mask_BH = ops.sentences("mask") if self.unit.masked else None
        steps = [unit(self.unit.cell, x_BG, tuple(h), weights, mask_BH) for x_BG, *h in zip(*given, strict=True)]
        after = tuple(map(torch.stack, zip(*steps, strict=True)))
        return tuple(field.detach() for field in after), _Saved(given, weights, after)

    def backward(self, ops: Any, saved: Any, doutputs: Any) -> Any:
        """Return the gradients that autograd computes for the step."""
        given, weights, after = saved
        wanted = (*given, *weights.values())
        found = torch.autograd.grad(after, wanted, doutputs, retain_graph=True, materialize_grads=True)
        for name, gradient in zip(weights, found[len(given) :], strict=True):
            ops.add_whole_gradient(name, gradient)
        return (found[0],) * len(self.unit.inputs) + found[1 : len(given)]

    def obstacle(self) -> str:
        return "autograd runs the equations"

    def _weights(self) -> list[str]:
        """Matrices and vectors of the unit, by their short names."""
        matrices = [name for name, _ in self.unit.cell.matmuls]
        gains = [f"{name}_gain" for name in matrices] if self.unit.normalised else []
        return [*matrices, *self.unit.cell.vectors, *gains]


def _leaf(tensor: Tensor) -> Tensor:
    """A copy, since the blocks that states are views of are written to again at the next step."""
    return tensor.detach().clone().requires_grad_()
