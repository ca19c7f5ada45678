"""The one loop over time: every stage of a program forward, and all of them back in reverse order.

Backpropagation through time is each part's ``backward`` in reverse order, with gradients that flow one step back
through ``previous`` signals. ``scan.py`` puts both passes behind autograd, ``graphs.py`` records them for GPUs.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels import native, native_gradient
from anaphora.kernels.eager import Eager
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.observer import Observation
from anaphora.kernels.parts import Part, is_previous, signal_of
from anaphora.kernels.prepared import array_of
from anaphora.kernels.program import Program, Stage, leading_to, stages
from anaphora.kernels.signals import Signals
from anaphora.kernels.tensor_rows import TensorRows

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class ScanSpec:
    """Program and layout of a scan: all of it but its tensors."""

    program: Program
    rows: TensorRows
    names: tuple[tuple[str, ...], ...]
    """Names of inputs, first values, weights and memory, in the order of the tensors."""
    observed: Observation | None = None

    def by_name(self, tensors: Sequence[Tensor]) -> list[dict[str, Tensor]]:
        """Return the tensors back under their names, one dictionary for each group."""
        rest = iter(tensors)
        return [{name: next(rest) for name in group} for group in self.names]


class ForwardPass(NamedTuple):
    """Values of the forward pass, saved for the backward pass."""

    matmuls: Matmuls
    signals: Signals
    saved: list[Any]
    """Values that each part saved, by stage and step (one for all where the stage does not loop); where all steps
    ran in one call, what that left."""


def forward(
    spec: ScanSpec, recording: bool, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors
) -> ForwardPass:
    """Return every stage in order: a looping one step by step, any other for all steps at once."""
    matmuls, signals = Matmuls(weights, memory, recording), Signals(spec.rows)
    for name, grid_TBW in inputs.items():
        signals.put(name, spec.rows.of_batch(grid_TBW))
    for name, value_BW in first.items():
        signals.carry(name, value_BW)
    saved: list[Any] = []
    in_c = matmuls.loops_in_c(signals.like)
    alone = in_c and not recording and not spec.observed
    for stage in native.stages_without_gradient(spec.program) if alone else stages(spec.program):
        if in_c and native.is_native(stage):
            if recording:
                saved.append(native_gradient.forward(stage, spec.rows.arrays, matmuls, signals))
            else:
                _forward_in_c(spec.rows, stage, matmuls, signals, first)
            continue
        steps = _steps(spec.rows, stage, matmuls, signals)
        if recording or spec.observed:
            saved.append(list(steps))
        else:
            deque(steps, maxlen=0)  # nothing is kept of a step that is not gone back through
    return ForwardPass(matmuls, signals, saved)


def _forward_in_c(rows: TensorRows, stage: Stage, matmuls: Matmuls, signals: Signals, first: Tensors) -> None:
    """Take all steps of a stage in one call, without a gradient."""
    names = {signal_of(name) for part in stage.parts for name in (*part.reads, *part.writes)}
    arrays = {name: array_of(signals.all(name)) for name in names if name in signals}
    for name, rows_RW in native.forward(stage, rows.arrays, matmuls, arrays, first.keys()).items():
        signals.put(name, torch.from_numpy(rows_RW))


def _steps(rows: TensorRows, stage: Stage, matmuls: Matmuls, signals: Signals) -> Iterator[tuple[Any, ...]]:
    """Take the steps of a stage, and give what its parts saved at each: one for all where it does not loop."""
    for step in range(len(rows.active)) if stage.loops else (None,):
        yield _step(rows, stage, matmuls, signals, step)


def _step(rows: TensorRows, stage: Stage, matmuls: Matmuls, signals: Signals, step: int | None) -> tuple[Any, ...]:
    """Take one step of a loop, for the sentences that have not ended, or all steps of a part that waits for none."""
    saved = []
    for part in stage.parts:
        inputs = _blocks(rows, part, part.reads, signals, step)
        outputs, kept = part.forward(Eager(matmuls, part.name, inputs[0].shape[1]), inputs)
        for name, block in zip(part.writes, outputs, strict=True):
            if step is None:
                signals.put(name, rows.of_grid(block) if part.by_sentence else block[0])
            else:
                signals.put_step(name, step, block)
        saved.append(kept)
    return tuple(saved)


def _blocks(rows: TensorRows, part: Part, names: Sequence[str], signals: Signals, step: int | None) -> list[Tensor]:
    """Return signals at a step, or at all steps.

    A part that looks at its sentence is then given one column for each sentence, any other nothing but rows.
    """
    if step is not None:
        return [signals.read_step(name, step) for name in names]
    blocks = [signals.read(name) for name in names]
    return [rows.to_grid(block_1RW[0]) for block_1RW in blocks] if part.by_sentence else blocks


def backward(
    spec: ScanSpec, done: ForwardPass, gradients: tuple[Tensor, ...], needed: Sequence[bool]
) -> list[Tensor | None]:
    """Return the gradient of each tensor of a scan, from those of its outputs and last states.

    Every stage that leads to what is ``needed`` is gone back through.
    """
    inputs, first, weights, memory = spec.names
    wanted = [n for n, need in zip((*inputs, *first, *weights, *memory), needed, strict=True) if need]
    dsignals = _stages_back(spec, done, gradients, wanted)
    if spec.observed:
        spec.observed.backward(dsignals, gradients)
    dmatrices = done.matmuls.gradients(wanted)
    dinputs = (spec.rows.to_batch(dsignals.all(name)) if name in dsignals else None for name in inputs)
    dfirst = (dsignals.initial(name) for name in first)
    return [*dinputs, *dfirst, *(dmatrices.get(name) for name in (*weights, *memory))]


def _stages_back(spec: ScanSpec, done: ForwardPass, gradients: tuple[Tensor, ...], wanted: Collection[str]) -> Signals:
    """Every stage that leads to what is wanted, in reverse order; returns the gradients of the signals on the way."""
    program, rows, returned = spec.program, spec.rows, dict(zip(spec.program.returns, gradients, strict=False))
    dsignals = Signals(rows)
    for name, dlast_BW in zip(program.carried, gradients[len(program.returns) :], strict=True):
        dsignals.carry_zeros(name, dlast_BW)
        dsignals.all(name).index_copy_(0, rows.last_B, dlast_BW)
    for name, dgrid_TBW in returned.items():
        dsignals.add(name, rows.of_batch(dgrid_TBW))
    needed = leading_to(program, wanted)
    for stage, saved in zip(reversed(stages(program)), reversed(done.saved), strict=True):
        if stage not in needed:
            continue
        if isinstance(saved, native_gradient.RecordedSteps):
            native_gradient.backward(stage, rows.arrays, done.matmuls, saved, dsignals)
            continue
        for part in stage.parts:
            for name in (*part.writes, *(part.reads if stage.loops else ())):
                if not is_previous(name) and (stage.loops or name not in dsignals):
                    dsignals.begin(name, done.signals.all(name))
        for step in reversed(range(len(rows.active))) if stage.loops else (None,):
            _step_back(rows, stage, done.matmuls, dsignals, step, saved[step or 0])
    return dsignals


def _step_back(
    rows: TensorRows, stage: Stage, matmuls: Matmuls, dsignals: Signals, step: int | None, saved: tuple[Any, ...]
) -> None:
    """Undo one step, or all: the parts in reverse, what flows one step back added to the step before."""
    for part, kept in zip(reversed(stage.parts), reversed(saved), strict=True):
        doutputs = _blocks(rows, part, part.writes, dsignals, step)
        dinputs = part.backward(Eager(matmuls, part.name, doutputs[0].shape[1]), kept, doutputs)
        for read, dblock in zip(part.reads, dinputs, strict=True):
            if dblock is None:
                continue
            if step is None:
                dsignals.add(read, rows.of_grid(dblock) if part.by_sentence else dblock[0])
            else:
                dsignals.read_step(read, step).add_(dblock)
