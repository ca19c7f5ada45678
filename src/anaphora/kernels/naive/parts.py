"""Recurrent units of a program by their reference equations: what ``ANAPHORA_KERNELS=naive`` runs, slowly."""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.cells import Cell
from anaphora.kernels.cells.recorded import AutogradCell, Record, State, record_step, undo_step
from anaphora.kernels.naive.units import NORMALISED_UNITS, UNITS, unit_step
from anaphora.kernels.parts import Part, Unit
from anaphora.kernels.program import Program


@cache
def with_naive_units(program: Program) -> Program:
    """Return the same program, with each unit replaced by its reference implementation where there is one."""
    parts = (NaiveUnit(**vars(part)) if _has_reference(part) else part for part in program.parts)
    return replace(program, parts=tuple(parts))


def _has_reference(part: Part) -> bool:
    if not isinstance(part, Unit) or isinstance(part.cell, AutogradCell):  # autograd runs it already
        return False
    return type(part.cell) in (NORMALISED_UNITS if part.normalised else UNITS)


class NaiveUnit(Unit):
    """A unit whose steps follow the equations of the papers, each differentiated by autograd."""

    def forward(self, ops: Any, inputs: Any) -> Any:
        count = len(self.inputs)
        return record_step(ops, (sum(inputs[1:count], inputs[0]), *inputs[count:]), self._step)

    def _step(self, given: State, record: Record) -> State:
        weights = {name: record.vector(name) for name in self._weights()}
        if self.conditioned:
            weights["condition"] = record.leaf("condition", record.ops.sentences)
        mask_BH = record.ops.sentences("mask") if self.masked else None
        steps = [unit(self.cell, x_BG, tuple(h), weights, mask_BH) for x_BG, *h in zip(*given, strict=True)]
        return tuple(map(torch.stack, zip(*steps, strict=True)))

    def inside(self, saved: Any) -> dict[str, Any]:
        """Return nothing: autograd knows no gates."""
        return {}

    def backward(self, ops: Any, saved: Any, doutputs: Any) -> Any:
        """Return the gradients that autograd computes for the step."""
        dx, *dbefore = undo_step(ops, saved, doutputs)
        return [*[dx] * len(self.inputs), *dbefore]

    def obstacle(self) -> str:
        return "autograd runs the equations"

    def _weights(self) -> list[str]:
        """Matrices and vectors of the unit, by their short names."""
        matrices = [name for name, _ in self.cell.matmuls]
        gains = [f"{name}_gain" for name in matrices] if self.normalised else []
        return [*matrices, *self.cell.vectors, *gains]


def unit(cell: Cell, a_BG: Tensor, before: State, weights: dict[str, Tensor], mask_BH: Tensor | None) -> State:
    """One step of a unit; to drop a number of its recurrent state is to drop a column of its recurrent matrices."""
    normalises = any(name.endswith("_gain") for name in weights)
    step = NORMALISED_UNITS[type(cell)] if normalises else unit_step
    if mask_BH is None:
        return step(cell, a_BG, before, weights)
    recurrent = [name for name, _ in cell.matmuls]
    rows = []
    for b, mask_H in enumerate(mask_BH):
        masked = weights | {name: weights[name] * mask_H for name in recurrent}
        masked |= {name: weights[name][b : b + 1] for name in ("condition",) if name in weights}
        rows.append(step(cell, a_BG[b : b + 1], tuple(field[b : b + 1] for field in before), masked))
    return tuple(torch.cat(field) for field in zip(*rows, strict=True))
