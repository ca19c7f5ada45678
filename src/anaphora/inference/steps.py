"""Programs over arrays: in C, or step by step and part by part where C has no body for a part."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from anaphora.inference.array_ops import ArrayOps
from anaphora.kernels import native, stepping
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.kernels.word_tables import read_words, read_words_of_step

Arrays = Mapping[str, Array]


def scan(
    program: Program, inputs: Mapping[str, Any], first: Arrays, weights: Arrays, memory: Arrays, lengths_B: Array
) -> native.ScanResult[Array]:
    """Run a program over sequences: see ``kernels.native.scan``; the input ``x`` may be ``Words``."""
    read = read_words(program, weights, inputs["x"])
    inputs = {**inputs, "x": read.x_XBW}
    if not _has_obstacle(program):
        return native.scan(read.program, inputs, first, read.weights, memory, lengths_B)
    state, outputs = dict(first), dict[str, list[Array]]()
    for step in range(len(read.x_XBW)):
        given = {name: block_TBW[step : step + 1] for name, block_TBW in inputs.items()}
        before = {name: block_BW[None] for name, block_BW in state.items()}
        signals, open_B1 = _advance(read.program, given, before, read.weights, memory), (step < lengths_B)[:, None]
        state = {name: np.where(open_B1, signals[name][0], block_BW) for name, block_BW in state.items()}
        for name in program.returns:
            outputs.setdefault(name, []).append(np.where(open_B1, signals[name][0], np.float32(0)))
    return native.ScanResult({name: np.stack(blocks) for name, blocks in outputs.items()}, state)


def advance(
    program: Program, inputs: Mapping[str, Any], state: Arrays, weights: Arrays, memory: Arrays
) -> dict[str, Array]:
    """Return one step, X x B x width in and out: see ``kernels.stepping.advance``; the input ``x`` may be ``Words``."""
    read = read_words_of_step(program, weights, inputs["x"])
    take_step = _advance if _has_obstacle(program) else stepping.advance
    return take_step(read.program, {**inputs, "x": read.x_XBW}, state, read.weights, memory)


@cache
def _has_obstacle(program: Program) -> bool:
    return any(part.obstacle() for part in program.parts)


def _advance(program: Program, inputs: Arrays, state: Arrays, weights: Arrays, memory: Arrays) -> dict[str, Array]:
    """Return one step, part by part."""
    signals = {**inputs, **{previous(name): block for name, block in state.items()}}
    for part in program.parts:
        written, _ = part.forward(ArrayOps(part.name, weights, memory), [signals[read] for read in part.reads])
        signals.update(zip(part.writes, written, strict=True))
    return signals
