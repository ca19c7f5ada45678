"""A program over whole sequences with its gradient, and single steps of it.

``scan`` runs a program over whole sequences; ``advance`` runs the same parts for a single step. The gradient is
derived by hand, part by part (``unroll.py``), with every weight gradient made after the loop.

Sentences are sorted by length inside, so that a short one leaves the batch when it ends: no masks in the loop, no
work on padding. Its last state is what stood at its own last step.

Blocks at the door are time first (T x B x width); inside, only the steps that a sentence has take any room
(``rows.py``). A carried signal's buffer holds its first value and every step, and "h" and "previous h" are two readings
of it, one step apart; their gradients likewise (``signals.py``).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels import cudnn, graphs, native, stepping, unroll
from anaphora.kernels.autograd_bridge import apply_derived, autocasts
from anaphora.kernels.checks import check_scan
from anaphora.kernels.eager import Eager
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.naive.parts import with_naive_units
from anaphora.kernels.native import ScanResult
from anaphora.kernels.observer import Observation, Tensors, Trajectory
from anaphora.kernels.parts import previous
from anaphora.kernels.prepared import array_of
from anaphora.kernels.program import Program, stages
from anaphora.kernels.runtime import current
from anaphora.kernels.tensor_rows import rows_of
from anaphora.kernels.unroll import ForwardPass, ScanSpec


def scan(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor
) -> ScanResult[Tensor]:
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
        return ScanResult(*cudnn.layers(program, inputs, first, weights, memory, lengths_B))
    if device.type == "cuda" and kernels == "native" and observer is None and torch.is_grad_enabled():
        replayed = graphs.replay(program, inputs, first, weights, memory, lengths_B)
        if replayed:
            return ScanResult(*replayed)
    program = with_naive_units(program) if kernels == "naive" else program
    rows = rows_of(lengths_B, steps, device)
    given = Trajectory(program, inputs, first, weights, memory, lengths_B)
    if not rows.sorted:
        first, memory = (
            {name: block.index_select(0, rows.order_B) for name, block in tensors.items()}
            for tensors in (first, memory)
        )
    observed = Observation(observer, rows, given) if observer else None
    spec = ScanSpec(program, rows, (tuple(inputs), tuple(first), tuple(weights), tuple(memory)), observed)
    tensors = (*inputs.values(), *first.values(), *weights.values(), *memory.values())
    if torch.is_grad_enabled() or autocasts(device.type):
        results = _differentiable(spec, tensors)
    else:
        _, results = _forward(spec, False, tensors)
    outputs = dict(zip(program.returns, results, strict=False))
    state = dict(zip(program.carried, results[len(outputs) :], strict=True))
    if not rows.sorted:
        state = {name: block.index_select(0, rows.back_B) for name, block in state.items()}
    return ScanResult(outputs, state)


@torch.no_grad()
def advance(program: Program, inputs: Tensors, state: Tensors, weights: Tensors, memory: Tensors) -> dict[str, Tensor]:
    """Return one step, without gradients: X x B x width in, every signal out (the carried ones are the new state).

    X hypotheses of each of the B sentences of ``memory`` are stepped side by side, each with the same bits as alone.
    """
    program = with_naive_units(program) if current().kernels == "naive" else program
    matmuls = Matmuls(weights, memory, recording=False)
    signals = dict(inputs) | {previous(name): block for name, block in state.items()}
    in_c = matmuls.loops_in_c(next(iter(signals.values())))
    for stage in native.stages_of_step(program) if in_c else stages(program):
        if in_c and native.is_native(stage):
            arrays = {name: array_of(block) for name, block in signals.items()}
            stepping.advance_stage(stage, matmuls, arrays)
            signals |= {name: torch.from_numpy(block) for name, block in arrays.items() if name not in signals}
            continue
        for part in stage.parts:
            blocks = [signals[read] for read in part.reads]
            outputs, _ = part.forward(Eager(matmuls, part.name, blocks[0].shape[1]), blocks)
            signals.update(zip(part.writes, outputs, strict=True))
    return signals


def _forward(spec: ScanSpec, recording: bool, tensors: tuple[Tensor, ...]) -> tuple[ForwardPass, tuple[Tensor, ...]]:
    """Return the forward pass, and its results: what the program returns, and the last value of what it carries."""
    done = unroll.forward(spec, recording, *spec.by_name(tensors))
    if spec.observed:
        spec.observed.forward(done.signals, done.saved)
    rows, program = spec.rows, spec.program
    outputs = (rows.to_batch(done.signals.all(name)) for name in program.returns)
    return done, (*outputs, *(done.signals.all(name).index_select(0, rows.last_B) for name in program.carried))


def _differentiable(spec: ScanSpec, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the results with their gradients, by the two passes of ``unroll.py``."""
    needed, passes = [tensor.requires_grad for tensor in tensors], list[ForwardPass]()

    def forward(recording: bool, *tensors: Tensor) -> tuple[tuple[Tensor, ...], Sequence[Tensor]]:
        done, results = _forward(spec, recording, tensors)
        passes.append(done)
        return results, tensors

    def backward(saved: Sequence[Tensor], *gradients: Tensor) -> list[Tensor | None]:
        return unroll.backward(spec, passes[0], gradients, needed)

    return apply_derived(forward, backward, *tensors)
