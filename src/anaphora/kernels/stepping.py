"""Single steps of a loop in C, for search: what a step does is listed once, and each further step only fills in where.

A step is of one stage for X hypotheses of B sentences. Its list (``operation_list.py``) is bound to the memory of these
sentences as long as the memory is the same, and goes with it: what search drops is not kept alive by it.
"""

import weakref
from collections import OrderedDict

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array, empty
from anaphora.kernels.matrices import Arrays, Matrices, Weights
from anaphora.kernels.operation_list import BoundOperations, GivenSignal, OperationList, one_step, operation_list
from anaphora.kernels.parts import previous
from anaphora.kernels.prepared import state_of
from anaphora.kernels.program import Program, Stage

_MOST = 64
"""Lists over memory that are kept."""


def advance(program: Program, inputs: Arrays, state: Arrays, weights: Weights, memory: Arrays) -> dict[str, Array]:
    """Return one step, all of it in C: X x B x width in, every signal out (the carried ones are the new state).

    X hypotheses of each of the B sentences of ``memory`` are stepped side by side, each with the same bits as alone.
    Raises ShapeError where C cannot run a part, or the numbers are not of single precision.
    """
    matmuls = Matrices(weights, memory)
    matmuls.check_program(program, inputs)
    signals = dict(inputs) | {previous(name): block for name, block in state.items()}
    advance_stage(Stage(program.parts, loops=True), matmuls, signals)
    return signals


def advance_stage(stage: Stage, matmuls: Matrices, signals: dict[str, Array]) -> None:
    """Take one step, X hypotheses of B sentences side by side: adds what the stage writes to ``signals``."""
    hypotheses, sentences, _ = signals[stage.parts[0].reads[0]].shape
    reads = {read for part in stage.parts for read in part.reads if read in signals}
    if any(signals[read].shape[:-1] != (hypotheses, sentences) for read in reads):
        raise ShapeError(f"Each signal of a step should be {hypotheses} x {sentences} x its width.")
    given = {read: GivenSignal(read, signals[read].shape[2]) for read in reads}
    found = operation_list(stage, matmuls, one_step(hypotheses * sentences), given, hypotheses)
    blocks = {read: np.ascontiguousarray(signals[read], np.float32) for read in reads}
    blocks |= {name: empty(hypotheses, sentences, width) for name, width in found.written.items()}
    _bind(found, matmuls, hypotheses, sentences).run(blocks, [hypotheses * sentences], hypotheses)
    signals |= {name: blocks[name] for name in found.written}


def _bind(found: OperationList, matmuls: Matrices, hypotheses: int, sentences: int) -> BoundOperations:
    """Return the list over the memory of a step: that of the step before, if nothing has changed."""
    states = {name: state_of(matmuls.given(name)) for name in found.memory}
    bound = matmuls.owner.bound if matmuls.owner else OrderedDict()
    key = id(found), hypotheses, sentences
    kept_states, kept = bound.get(key, (None, None))
    if kept and kept.operations is found and kept_states == states:
        return kept  # type: ignore[no-any-return]
    made = found.bind(matmuls, sentences)
    if matmuls.owner and states:
        bound.pop(key, None)
        bound[key] = states, made
        if len(bound) > _MOST:
            bound.popitem(last=False)
        for name in states:
            weakref.finalize(matmuls.given(name), bound.pop, key, None)
    return made
