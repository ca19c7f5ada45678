"""Stages of a program in C, all steps in one call, and whole programs without a gradient.

The stage is the unit of this: where one of its parts has an obstacle, torch's operations run all of it, step by step
(``scan.py``). ``native_gradient.py`` goes back through stages.
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from anaphora.errors import ShapeError
from anaphora.kernels.compiled.library import Array, empty
from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lexical import Lexical
from anaphora.kernels.matrices import Arrays, Matrices, Weights
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.operation_list import GivenSignal, one_step, operation_list
from anaphora.kernels.parts import Activate, Add, Clock, Mask, Maxout, Project, SentenceMask, is_previous, signal_of
from anaphora.kernels.program import Program, Stage, stages
from anaphora.kernels.rows import Rows, rows_of
from anaphora.kernels.word_tables import LookUp

_EXACT = (Add, Clock, LookUp, Mask, Maxout, Project, SentenceMask)
"""Parts with the same bits in C as by torch: products, sums and maxima. They may run in a scan by the one and in a step
of search by the other."""

_ROUNDED = (Activate, Lexical, Normalise)
"""Parts of cheap operations that C rounds otherwise than torch: they loop where there are no gradients."""

Block = TypeVar("Block")


class Loop(NamedTuple):
    """A looping stage in words."""

    parts: tuple[str, ...]
    """Names of its parts."""
    obstacles: Mapping[str, str]
    """Reasons why C cannot run a part, by its name."""

    @property
    def reasons(self) -> str:
        """Why it runs in Python; empty where it runs in C."""
        return ", ".join(f"{part}: {obstacle}" for part, obstacle in self.obstacles.items())

    def __str__(self) -> str:
        return f"loop of {', '.join(self.parts)}: " + (f"in Python ({self.reasons})" if self.reasons else "in C")


def loops(program: Program) -> list[Loop]:
    """The looping stages of a program, and what keeps them from running in C, where native kernels are chosen."""
    return [
        Loop(
            tuple(part.name for part in stage.parts),
            {part.name: why for part in stage.parts if (why := part.obstacle())},
        )
        for stage in stages(program)
        if stage.loops
    ]


@cache
def is_native(stage: Stage) -> bool:
    """True if C can run all parts of a looping stage."""
    return stage.loops and not any(part.obstacle() for part in stage.parts)


@cache
def stages_of_step(program: Program) -> tuple[Stage, ...]:
    """Return the stages of a single step: one alone, in C, where that changes no bit."""
    found = _rounded_alike(program)
    if all(is_native(stage) or (not stage.loops and isinstance(stage.parts[0], _EXACT)) for stage in found):
        return (Stage(program.parts, loops=True),)
    return found


def _rounded_alike(program: Program) -> tuple[Stage, ...]:
    """Return its stages, where each part has the same bits in a scan in C as in a step in C."""
    return tuple(s._replace(loops=True) if isinstance(s.parts[0], _ROUNDED) else s for s in stages(program))


@cache
def stages_without_gradient(program: Program) -> tuple[Stage, ...]:
    """The stages of a scan in C that is not gone back through: words are looked up by the loop that reads them."""
    found = list(_rounded_alike(program))
    for stage in tuple(found):
        part = stage.parts[0]
        if not isinstance(part, LookUp) or part.target in program.returns:
            continue
        loop, *others = [other for other in found if any(part.target in each.reads for each in other.parts)]
        if is_native(loop) and not others:
            found[found.index(loop)] = Stage((part, *loop.parts), loops=True, inner=(*loop.inner, part.target))
            found.remove(stage)
    return tuple(found)


def forward(stage: Stage, rows: Rows, matmuls: Matrices, signals: Arrays, carried: Collection[str]) -> dict[str, Array]:
    """Take all steps of a stage without a gradient: what to do is listed once for sentences of the same lengths.

    A stage that waits for no step before, and whose rows need not know their sentence, takes all rows as one step.

    Args:
        stage: its parts have native bodies.
        rows: where the rows lie.
        matmuls: the matrices of the pass.
        signals: R x width for what the stage reads, and for each carried signal; before the rows of a carried one lie
            its values before the first step.
        carried: the carried signals, which are written in place.

    Returns:
        R x width for each other signal that the stage writes for others.
    """
    own = {signal for part in stage.parts for signal in part.writes}
    reads = {read for part in stage.parts for read in part.reads if is_previous(read) or read not in own}
    given = {}
    for read in reads:
        signal = signal_of(read)
        given[read] = GivenSignal(signal, signals[signal].shape[1], Place.BEFORE if is_previous(read) else Place.NOW)
    by_step = stage.loops or any(part.by_sentence for part in stage.parts) or any(map(is_previous, reads))
    layout = rows if by_step else one_step(len(rows))
    found = operation_list(stage, matmuls, layout, given)
    written = {name: empty(len(rows), width) for name, width in found.written.items() if name not in carried}
    lying = {one.name: np.ascontiguousarray(signals[one.name], np.float32) for one in given.values()}
    lying |= {name: written[name] if name in written else signals[name] for name in found.written}
    found.bind(matmuls, layout.active[0]).run(lying, layout.active)
    return written


class ScanResult(NamedTuple, Generic[Block]):
    """Result of a scan, in arrays or in tensors."""

    outputs: dict[str, Block]
    """T x B x width for each signal that the program returns; zero past the end of a sentence."""
    state: dict[str, Block]
    """B x width for each carried signal: its value at the last step of each sentence."""


def scan(
    program: Program, inputs: Arrays, first: Arrays, weights: Weights, memory: Arrays, lengths_B: Array
) -> ScanResult[Array]:
    """Run a program over sequences of T steps without a gradient, all of it in C, in the current runtime.

    Args:
        program: the parts of one step, which all have native bodies.
        inputs: T x B x width for each signal from outside, in float32; what lies past the end of a sentence is never
            used.
        first: B x width for each carried signal.
        weights: matrices and vectors, named ``part.matrix``.
        memory: arrays with B in front that all steps look at, named ``part.tensor``.
        lengths_B: int64, the steps of each sentence, 1 to T.

    Raises:
        ShapeError: C cannot run a part, or the numbers are not of single precision.
    """
    steps = len(next(iter(inputs.values())))
    rows = rows_of(lengths_B, steps)
    if not rows.sorted:
        first, memory = (
            {name: rows.take(block, rows.order_B) for name, block in arrays.items()} for arrays in (first, memory)
        )
    matmuls = Matrices(weights, memory)
    matmuls.check_program(program, inputs)
    signals = {name: rows.of_batch(grid_TBW) for name, grid_TBW in inputs.items()}
    for name, first_BW in first.items():
        if len(first_BW) != rows.active[0]:
            raise ShapeError(f"{name} should start with a row for each of {rows.active[0]} sentences.")
        buffer = empty(len(first_BW) + len(rows), first_BW.shape[1])
        buffer[: len(first_BW)] = first_BW
        signals[name] = buffer[len(first_BW) :]
    for stage in stages_without_gradient(program):
        signals |= forward(stage, rows, matmuls, signals, first.keys())
    outputs = {name: rows.to_batch(signals[name]) for name in program.returns}
    state = {name: rows.take(signals[name], rows.last_B) for name in program.carried}
    if not rows.sorted:
        state = {name: rows.take(block, rows.back_B) for name, block in state.items()}
    return ScanResult(outputs, state)
