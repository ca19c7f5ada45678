"""The one loop over time, forward and back, and the one autograd function around it.

``scan`` runs a program over whole sequences; ``advance`` runs the same parts for a single step. The gradient is
derived by hand, part by part: backpropagation through time here is each part's ``backward`` in reverse order, with
gradients that flow one step back through ``previous`` signals and every weight gradient made after the loop.

Sentences are sorted by length inside, so that a short one leaves the batch when it ends: no masks in the loop, no
work on padding. Its last state is what stood at its own last step.

Blocks are time first (T x B x width). For a carried signal one buffer of T + 1 steps holds the first value and every
step, and "h" and "previous h" are two views of it, one step apart; their gradients likewise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.blocks import Blocks
from anaphora.kernels.by_hand import once_differentiable, outside_autocast
from anaphora.kernels.checks import check_scan
from anaphora.kernels.parts import previous
from anaphora.kernels.products import Products
from anaphora.kernels.program import Program, Stage, stages

Tensors = Mapping[str, Tensor]


class Scanned(NamedTuple):
    """What a scan gives."""

    outputs: dict[str, Tensor]
    """T x B x width for each signal that the program returns; zero behind the end of a sentence."""
    state: dict[str, Tensor]
    """B x width for each carried signal: its value at the last step of each sentence."""


def scan(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor
) -> Scanned:
    """Run a program over sequences of T steps.

    Args:
        program: the parts of one step.
        inputs: T x B x width for each signal from outside; what lies behind the end of a sentence is never used.
        first: B x width for each carried signal.
        weights: matrices and vectors, named ``part.matrix``.
        memory: tensors with B in front that all steps look at, named ``part.tensor``.
        lengths_B: steps of each sentence, 1 to T.

    Raises:
        ShapeError: lengths outside 1 .. T, a missing tensor, or sizes, types or devices that do not agree.
    """
    lengths_B = lengths_B.to("cpu")  # they decide what is done, so the processor has to know them
    steps = check_scan(program, inputs, first, weights, memory, lengths_B)
    device = next(iter(inputs.values())).device
    ragged = bool((lengths_B < steps).any())
    order = torch.argsort(lengths_B, descending=True, stable=True)
    unsorted = bool((order[1:] < order[:-1]).any())
    sorted_B, back, order = lengths_B[order], torch.argsort(order).to(device), order.to(device)
    if ragged:
        open_TB1 = (torch.arange(steps, device=device).unsqueeze(1) < lengths_B.to(device)).unsqueeze(-1)
        inputs = {name: block.where(open_TB1, 0) for name, block in inputs.items()}
    if unsorted:
        inputs = {name: block.index_select(1, order) for name, block in inputs.items()}
        first, memory = (
            {name: block.index_select(0, order) for name, block in tensors.items()} for tensors in (first, memory)
        )
    ends = sorted_B.to(device), torch.arange(len(sorted_B), device=device)
    spec = _Spec(program, steps, sorted_B, ends, (tuple(inputs), tuple(first), tuple(weights), tuple(memory)))
    results = _Scan.apply(  # type: ignore[no-untyped-call]
        spec, torch.is_grad_enabled(), *inputs.values(), *first.values(), *weights.values(), *memory.values()
    )
    outputs = dict(zip(program.returns, results, strict=False))
    state = dict(zip(program.carried, results[len(outputs) :], strict=True))
    if unsorted:
        outputs = {name: block.index_select(1, back) for name, block in outputs.items()}
        state = {name: block.index_select(0, back) for name, block in state.items()}
    if ragged:
        outputs = {name: block.where(open_TB1, 0) for name, block in outputs.items()}
    return Scanned(outputs, state)


@torch.no_grad()
def advance(program: Program, inputs: Tensors, state: Tensors, weights: Tensors, memory: Tensors) -> dict[str, Tensor]:
    """One step, without gradients: X x B x width in, every signal out (the carried ones are the new state).

    X hypotheses of each of the B sentences of ``memory`` are stepped side by side, each with the same bits as alone.
    """
    products = Products(weights, memory, recording=False)
    signals = dict(inputs) | {previous(name): block for name, block in state.items()}
    for part in program.parts:
        outputs, _ = part.forward(products, tuple(signals[read] for read in part.reads))
        signals.update(zip(part.writes, outputs, strict=True))
    return signals


@dataclass(frozen=True)
class _Spec:
    """All that is not a tensor of the computation."""

    program: Program
    steps: int
    lengths: Tensor
    """Descending, on the processor."""
    ends: tuple[Tensor, Tensor]
    """Where a carried signal of T + 1 steps holds the last value of each sentence, on the device of the inputs."""
    names: tuple[tuple[str, ...], ...]
    """Of inputs, first values, weights and memory, in the order of the tensors."""

    def named(self, tensors: tuple[Tensor, ...]) -> list[dict[str, Tensor]]:
        """The tensors back under their names, one dictionary for each group."""
        rest = iter(tensors)
        return [{name: next(rest) for name in group} for group in self.names]

    @cached_property
    def active(self) -> list[int]:
        """How many sentences are still there at each step, up to the end of the longest."""
        return [int(rows) for rows in torch.bincount(self.lengths - 1).flip(0).cumsum(0).flip(0)]


class _Walked(NamedTuple):
    """What the walk forward leaves for the walk back."""

    products: Products
    blocks: Blocks
    saved: list[list[tuple[Any, ...]]]
    """For each stage, for each step (one for all where the stage does not loop), what each part saved."""


class _Scan(torch.autograd.Function):
    """A thin adapter between autograd and the two walks below."""

    @staticmethod
    @outside_autocast
    def forward(ctx: Any, spec: _Spec, recording: bool, *tensors: Tensor) -> tuple[Tensor, ...]:
        walked = _walk(spec, recording and any(ctx.needs_input_grad), *spec.named(tensors))
        ctx.spec, ctx.walked = spec, walked
        ctx.save_for_backward(*tensors)
        outputs = (walked.blocks[name].clone() for name in spec.program.returns)
        return (*outputs, *(walked.blocks.whole[name][spec.ends] for name in spec.program.carried))

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        inputs, first, weights, memory = ctx.spec.named(ctx.saved_tensors)  # refuses weights changed since
        dblocks = _walk_back(ctx.spec, ctx.walked, gradients)
        dmatrices = ctx.walked.products.gradients()
        dinputs = (dblocks.get(name) for name in inputs)
        dfirst = (dblocks.whole[name][0] for name in first)
        return (None, None, *dinputs, *dfirst, *(dmatrices.get(name) for name in (*weights, *memory)))


def _walk(spec: _Spec, recording: bool, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors) -> _Walked:
    """Every stage in order: a looping one step by step, any other for all steps at once."""
    products, blocks = Products(weights, memory, recording), Blocks(dict(inputs))
    for name, value_BD in first.items():
        blocks.carry(name, value_BD, spec.steps)
    saved: list[list[tuple[Any, ...]]] = []
    for stage in stages(spec.program):
        if stage.loops:
            saved.append([_step(spec, stage, products, blocks, step) for step in range(len(spec.active))])
        else:
            (part,) = stage.parts
            outputs, kept = part.forward(products, tuple(blocks[read] for read in part.reads))
            for name, block_TBD in zip(part.writes, outputs, strict=True):
                blocks.put(name, block_TBD)
            saved.append([(kept,)])
        if not recording:
            saved.clear()
    return _Walked(products, blocks, saved)


def _step(spec: _Spec, stage: Stage, products: Products, blocks: Blocks, step: int) -> tuple[Any, ...]:
    """One step of a loop, for the sentences that have not ended."""
    rows, saved = spec.active[step], []
    for part in stage.parts:
        outputs, kept = part.forward(products, tuple(blocks[read][step : step + 1, :rows] for read in part.reads))
        for name, value_1BD in zip(part.writes, outputs, strict=True):
            blocks.put_step(name, step, value_1BD, spec.steps, len(spec.lengths))
        saved.append(kept)
    return tuple(saved)


def _walk_back(spec: _Spec, walked: _Walked, gradients: tuple[Tensor, ...]) -> Blocks:
    """Every stage in reverse order; returns the gradient of every signal."""
    program, returned = spec.program, dict(zip(spec.program.returns, gradients, strict=False))
    dblocks = Blocks({})
    for name, dfinal_BD in zip(program.carried, gradients[len(program.returns) :], strict=True):
        dblocks.carry(name, torch.zeros_like(dfinal_BD), spec.steps)
        dblocks.whole[name][spec.ends] = dfinal_BD
    for name, dreturned_TBD in returned.items():
        dblocks.add(name, dreturned_TBD.clone() if name not in dblocks else dreturned_TBD)
    for stage, saved in zip(reversed(stages(program)), reversed(walked.saved), strict=True):
        for name in {name for part in stage.parts for name in (*part.reads, *part.writes)} - dblocks.keys():
            dblocks[name] = torch.zeros_like(walked.blocks[name])
        if stage.loops:
            for step in reversed(range(len(spec.active))):
                _step_back(spec, stage, walked.products, dblocks, step, saved[step])
        else:
            (part,), ((kept,),) = stage.parts, saved
            dinputs = part.backward(walked.products, kept, tuple(dblocks[name] for name in part.writes))
            for read, dblock_TBD in zip(part.reads, dinputs, strict=True):
                if dblock_TBD is not None:
                    dblocks[read] += dblock_TBD
    return dblocks


def _step_back(
    spec: _Spec, stage: Stage, products: Products, dblocks: Blocks, step: int, saved: tuple[Any, ...]
) -> None:
    """One step of a loop undone: the parts in reverse, what flows one step back added to the step before."""
    rows = spec.active[step]
    for part, kept in zip(reversed(stage.parts), reversed(saved), strict=True):
        doutputs = tuple(dblocks[name][step : step + 1, :rows] for name in part.writes)
        dinputs = part.backward(products, kept, doutputs)
        for read, dvalue_1BD in zip(part.reads, dinputs, strict=True):
            if dvalue_1BD is not None:
                dblocks[read][step, :rows] += dvalue_1BD[0]
