"""The one loop over time, forward and back, and the one autograd function around it.

``scan`` runs a program over whole sequences; ``advance`` runs the same parts for a single step. The gradient is
derived by hand, part by part: backpropagation through time here is each part's ``backward`` in reverse order, with
gradients that flow one step back through ``previous`` signals and every weight gradient made after the loop.

Sentences are sorted by length inside, so that a short one leaves the batch when it ends: no masks in the loop, no
work on padding. Its last state is what stood at its own last step.

Blocks at the door are time first (T x B x width); inside, only the steps that a sentence has take any room
(``rows.py``). A carried signal's buffer holds its first value and every step, and "h" and "previous h" are two readings
of it, one step apart; their gradients likewise (``blocks.py``).
"""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels import cudnn, native, stepping
from anaphora.kernels.autograd import once_differentiable, outside_autocast
from anaphora.kernels.blocks import Blocks
from anaphora.kernels.checks import check_scan
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.naive.parts import with_naive_units
from anaphora.kernels.observer import Observation, Tensors, Trajectory
from anaphora.kernels.parts import Part, is_previous, previous
from anaphora.kernels.program import Program, Stage, leading_to, stages
from anaphora.kernels.rows import Rows
from anaphora.kernels.runtime import current


class Scanned(NamedTuple):
    outputs: dict[str, Tensor]
    """T x B x width for each signal that the program returns; zero past the end of a sentence."""
    state: dict[str, Tensor]
    """B x width for each carried signal: its value at the last step of each sentence."""


def scan(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor
) -> Scanned:
    """Run a program over sequences of T steps.

    Args:
        program: the parts of one step.
        inputs: T x B x width for each signal from outside; what lies past the end of a sentence is never used.
        first: B x width for each carried signal.
        weights: matrices and vectors, named ``part.matrix``.
        memory: tensors with B in front that all steps look at, named ``part.tensor``.
        lengths_B: steps of each sentence, 1 to T.

    The observer of the runtime, if there is one, sees all of it: ``observer.py``.

    Raises:
        ShapeError: lengths outside 1 .. T, a missing tensor, or sizes, types or devices that do not agree.
    """
    lengths_B = lengths_B.to("cpu")  # they decide what is done, so the processor has to know them
    steps = check_scan(program, inputs, first, weights, memory, lengths_B)
    device = next(iter(inputs.values())).device
    observer, kernels = current().observer, current().kernels
    if device.type == "cuda" and kernels == "native" and observer is None and cudnn.suits(program):
        return Scanned(*cudnn.layers(program, inputs, first, weights, memory, lengths_B))
    program = with_naive_units(program) if kernels == "naive" else program
    rows = Rows(lengths_B, steps, device)
    given = Trajectory(program, inputs, first, weights, memory, lengths_B)
    if not rows.sorted:
        first, memory = (
            {name: block.index_select(0, rows.order_B) for name, block in tensors.items()}
            for tensors in (first, memory)
        )
    observed = Observation(observer, rows, given) if observer else None
    spec = _Spec(program, rows, (tuple(inputs), tuple(first), tuple(weights), tuple(memory)), observed)
    results = _Scan.apply(  # type: ignore[no-untyped-call]
        spec, torch.is_grad_enabled(), *inputs.values(), *first.values(), *weights.values(), *memory.values()
    )
    outputs = dict(zip(program.returns, results, strict=False))
    state = dict(zip(program.carried, results[len(outputs) :], strict=True))
    if not rows.sorted:
        state = {name: block.index_select(0, rows.back_B) for name, block in state.items()}
    return Scanned(outputs, state)


@torch.no_grad()
def advance(program: Program, inputs: Tensors, state: Tensors, weights: Tensors, memory: Tensors) -> dict[str, Tensor]:
    """One step, without gradients: X x B x width in, every signal out (the carried ones are the new state).

    X hypotheses of each of the B sentences of ``memory`` are stepped side by side, each with the same bits as alone.
    """
    program = with_naive_units(program) if current().kernels == "naive" else program
    matmuls = Matmuls(weights, memory, recording=False)
    signals = dict(inputs) | {previous(name): block for name, block in state.items()}
    in_c = matmuls.loops_in_c(next(iter(signals.values())))
    for stage in stages(program):
        if in_c and native.is_native(stage):
            stepping.advance(stage, matmuls, signals)
            continue
        for part in stage.parts:
            outputs, _ = part.forward(matmuls, tuple(signals[read] for read in part.reads))
            signals.update(zip(part.writes, outputs, strict=True))
    return signals


@dataclass(frozen=True)
class _Spec:
    """All that is not a tensor of the computation."""

    program: Program
    rows: Rows
    names: tuple[tuple[str, ...], ...]
    """Of inputs, first values, weights and memory, in the order of the tensors."""
    observed: Observation | None

    def named(self, tensors: tuple[Tensor, ...]) -> list[dict[str, Tensor]]:
        """The tensors back under their names, one dictionary for each group."""
        rest = iter(tensors)
        return [{name: next(rest) for name in group} for group in self.names]


class _Walked(NamedTuple):
    """What the walk forward leaves for the walk back."""

    matmuls: Matmuls
    blocks: Blocks
    saved: list[Any]
    """For each stage, for each step (one for all where the stage does not loop), what each part saved; where all steps
    ran in one call, what that left."""


class _Scan(torch.autograd.Function):
    """A thin adapter between autograd and the two walks below."""

    @staticmethod
    @outside_autocast
    def forward(ctx: Any, spec: _Spec, recording: bool, *tensors: Tensor) -> tuple[Tensor, ...]:
        walked = _walk(spec, recording and any(ctx.needs_input_grad), *spec.named(tensors))
        if spec.observed:
            spec.observed.forward(walked.blocks, walked.saved)
        ctx.spec, ctx.walked = spec, walked
        ctx.save_for_backward(*tensors)
        rows, program = spec.rows, spec.program
        outputs = (rows.to_batch(walked.blocks.all(name)) for name in program.returns)
        return (*outputs, *(walked.blocks.all(name).index_select(0, rows.last_B) for name in program.carried))

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        inputs, first, weights, memory = ctx.spec.named(ctx.saved_tensors)  # refuses weights changed since
        names = (name for group in ctx.spec.names for name in group)
        wanted = [name for name, needed in zip(names, ctx.needs_input_grad[2:], strict=True) if needed]
        dblocks = _walk_back(ctx.spec, ctx.walked, gradients, wanted)
        if ctx.spec.observed:
            ctx.spec.observed.backward(dblocks, gradients)
        dmatrices = ctx.walked.matmuls.gradients()
        dinputs = (ctx.spec.rows.to_batch(dblocks.all(name)) if name in dblocks else None for name in inputs)
        dfirst = (dblocks.first(name) for name in first)
        return (None, None, *dinputs, *dfirst, *(dmatrices.get(name) for name in (*weights, *memory)))


def _walk(spec: _Spec, recording: bool, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors) -> _Walked:
    """Every stage in order: a looping one step by step, any other for all steps at once."""
    matmuls, blocks = Matmuls(weights, memory, recording), Blocks(spec.rows)
    for name, grid_TBW in inputs.items():
        blocks.put(name, spec.rows.of_batch(grid_TBW))
    for name, value_BW in first.items():
        blocks.carry(name, value_BW)
    saved: list[Any] = []
    in_c = matmuls.loops_in_c(blocks.like)
    for stage in stages(spec.program):
        if in_c and native.is_native(stage):
            saved.append(native.forward(stage, spec.rows, matmuls, blocks, recording))
            continue
        steps = _steps(spec.rows, stage, matmuls, blocks)
        if recording or spec.observed:
            saved.append(list(steps))
        else:
            deque(steps, maxlen=0)  # nothing is kept of a step that is not gone back through
    return _Walked(matmuls, blocks, saved)


def _steps(rows: Rows, stage: Stage, matmuls: Matmuls, blocks: Blocks) -> Iterator[tuple[Any, ...]]:
    """Take the steps of a stage, and give what its parts saved at each: one for all where it does not loop."""
    if not stage.loops:
        yield (_all_steps(rows, stage.parts[0], matmuls, blocks),)
        return
    for step in range(len(rows.active)):
        yield _step(stage, matmuls, blocks, step)


def _step(stage: Stage, matmuls: Matmuls, blocks: Blocks, step: int) -> tuple[Any, ...]:
    """One step of a loop, for the sentences that have not ended."""
    saved = []
    for part in stage.parts:
        outputs, kept = part.forward(matmuls, tuple(blocks.read_step(read, step) for read in part.reads))
        for name, value_1BW in zip(part.writes, outputs, strict=True):
            blocks.put_step(name, step, value_1BW)
        saved.append(kept)
    return tuple(saved)


def _all_steps(rows: Rows, part: Part, matmuls: Matmuls, blocks: Blocks) -> Any:
    """All steps of a part that waits for none; returns what it saved.

    A part that looks at its sentence is given one column for each sentence, any other nothing but rows.
    """
    inputs = tuple(blocks.read(read) for read in part.reads)
    if part.by_sentence:
        inputs = tuple(rows.to_grid(block_1RW[0]) for block_1RW in inputs)
    outputs, kept = part.forward(matmuls, inputs)
    for name, block in zip(part.writes, outputs, strict=True):
        blocks.put(name, rows.of_grid(block) if part.by_sentence else block[0])
    return kept


def _walk_back(spec: _Spec, walked: _Walked, gradients: tuple[Tensor, ...], wanted: Collection[str]) -> Blocks:
    """Every stage that leads to what is wanted, in reverse order; returns the gradients of the signals on the way."""
    program, rows, returned = spec.program, spec.rows, dict(zip(spec.program.returns, gradients, strict=False))
    dblocks = Blocks(rows)
    for name, dlast_BW in zip(program.carried, gradients[len(program.returns) :], strict=True):
        dblocks.carry_zeros(name, dlast_BW)
        dblocks.all(name).index_copy_(0, rows.last_B, dlast_BW)
    for name, dgrid_TBW in returned.items():
        dblocks.add(name, rows.of_batch(dgrid_TBW))
    needed = leading_to(program, wanted)
    for stage, saved in zip(reversed(stages(program)), reversed(walked.saved), strict=True):
        if stage not in needed:
            continue
        if isinstance(saved, native.Lowered):
            native.backward(stage, rows, walked.matmuls, saved, dblocks)
            continue
        for part in stage.parts:
            for name in (*part.writes, *(part.reads if stage.loops else ())):
                if not is_previous(name) and (stage.loops or name not in dblocks):
                    dblocks.begin(name, walked.blocks.all(name))
        if stage.loops:
            for step in reversed(range(len(rows.active))):
                _step_back(stage, walked.matmuls, dblocks, step, saved[step])
        else:
            _all_steps_back(rows, stage.parts[0], walked.matmuls, dblocks, saved[0][0])
    return dblocks


def _step_back(stage: Stage, matmuls: Matmuls, dblocks: Blocks, step: int, saved: tuple[Any, ...]) -> None:
    """One step of a loop undone: the parts in reverse, what flows one step back added to the step before."""
    for part, kept in zip(reversed(stage.parts), reversed(saved), strict=True):
        dinputs = part.backward(matmuls, kept, tuple(dblocks.read_step(name, step) for name in part.writes))
        for read, dvalue_1BW in zip(part.reads, dinputs, strict=True):
            if dvalue_1BW is not None:
                dblocks.read_step(read, step).add_(dvalue_1BW)


def _all_steps_back(rows: Rows, part: Part, matmuls: Matmuls, dblocks: Blocks, kept: Any) -> None:
    doutputs = tuple(dblocks.read(name) for name in part.writes)
    if part.by_sentence:
        doutputs = tuple(rows.to_grid(block_1RW[0]) for block_1RW in doutputs)
    for read, dblock in zip(part.reads, part.backward(matmuls, kept, doutputs), strict=True):
        if dblock is not None:
            dblocks.add(read, rows.of_grid(dblock) if part.by_sentence else dblock[0])
