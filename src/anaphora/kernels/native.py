"""A looping stage of a program in C: all steps forward in one call, and all of them back in another.

The stage is the unit of this: where one of its parts has an obstacle, torch's operations run all of it, step by step
(``scan.py``). Values and gradients lie where the loop of Python has them (``signals.py``), so that stages of both kinds
stand side by side.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lowering import Lowering, Value
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.operation_list import GivenSignal, operation_list
from anaphora.kernels.parts import Activate, Add, Clock, Mask, Maxout, Project, SentenceMask, is_previous, signal_of
from anaphora.kernels.program import Program, Stage, stages
from anaphora.kernels.recorder import Recorder
from anaphora.kernels.rows import Rows
from anaphora.kernels.signals import Signals
from anaphora.kernels.word_tables import LookUp

_EXACT = (Add, Clock, LookUp, Mask, Maxout, Project, SentenceMask)
"""Parts with the same bits in C as by torch: products, sums and maxima. They may run in a scan by the one and in a step
of search by the other."""

_ROUNDED = (Activate, Normalise)
"""Parts of one cheap operation that C rounds otherwise than torch: they loop where there are no gradients."""


class RecordedSteps(NamedTuple):
    """Values of the steps forward, saved for those back."""

    forward: Lowering
    saved: tuple[Any, ...]
    """Values saved by each part."""


class Loop(NamedTuple):
    """A looping stage in words."""

    parts: tuple[str, ...]
    """Their names."""
    obstacles: Mapping[str, str]
    """By the name of a part, why C cannot run it."""

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


def forward(stage: Stage, rows: Rows, matmuls: Matmuls, signals: Signals, keeps: bool) -> RecordedSteps | None:
    """Take all steps; ``keeps``: whether there will be a backward pass."""
    if not keeps:
        _forward_without_gradient(stage, rows, matmuls, signals)
        return None
    values = _Values(signals)
    ops = Lowering(matmuls, rows, signals.like, keeps=True)
    saved = []
    for part in stage.parts:
        written, noted = part.forward(Recorder(ops, part.name), [values.read(read) for read in part.reads])
        for signal, value in zip(part.writes, written, strict=True):
            values.write(ops, signal, value)
        saved.append(noted)
    ops.finish()
    for part in stage.parts:
        for signal in part.writes:
            if signals.carried_buffer(signal) is None:
                signals.put(signal, ops.all_rows(values.read(signal)))
    return RecordedSteps(ops, tuple(saved))


def _forward_without_gradient(stage: Stage, rows: Rows, matmuls: Matmuls, signals: Signals) -> None:
    """Without a backward pass: what to do is listed once for sentences of the same lengths."""
    own = {signal for part in stage.parts for signal in part.writes}
    reads = {read for part in stage.parts for read in part.reads if is_previous(read) or read not in own}
    given = {}
    for read in reads:
        signal = signal_of(read)
        before = is_previous(read) and signals.carried_buffer(signal) is not None
        given[read] = GivenSignal(signal, signals.all(signal).shape[1], Place.BEFORE if before else Place.NOW)
    found = operation_list(stage, matmuls, rows, signals.like, given)
    for signal, width in found.written.items():
        if signals.carried_buffer(signal) is None:
            signals.put(signal, signals.like.new_empty(len(rows), width))
    lying = {name: signals.all(name).contiguous() for name in (*found.written, *(one.name for one in given.values()))}
    found.bind(matmuls, rows.active[0]).run(lying, rows.active)


def backward(stage: Stage, rows: Rows, matmuls: Matmuls, recorded: RecordedSteps, dsignals: Signals) -> None:
    """Undo all steps: the gradients of what the stage read are added to ``dsignals``, those of weights recorded."""
    gradients = _Gradients(dsignals)
    ops = Lowering(matmuls, rows, dsignals.like, keeps=False, back_from=recorded.forward)
    for part, saved in zip(reversed(stage.parts), reversed(recorded.saved), strict=True):
        doutputs: list[Any] = [gradients.read(signal) for signal in part.writes]
        if any(doutputs):  # a part with several outputs knows that some may have no gradient
            dinputs = part.backward(Recorder(ops, part.name), saved, doutputs)
            gradients.add(ops, part.reads, dinputs)
    written = {signal for part in stage.parts for signal in part.writes}
    found = {signal: value for signal, value in gradients.changed.items() if signal not in written}
    for value in found.values():
        value.kept = True
    ops.finish()
    for signal, value in found.items():
        dsignals.lend(signal, ops.all_rows(value))


class _Values:
    """The signals of a loop as values."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._values: dict[str, Value] = {}

    def read(self, read: str) -> Value:
        """Return the value that a part reads."""
        if read not in self._values:
            self._values[read] = _lying(self._signals, read)
        return self._values[read]

    def write(self, ops: Lowering, signal: str, value: Value) -> None:
        """Place what a part wrote: a carried signal is written where it is carried, any other stays where it is."""
        value.kept = True
        self._values[signal] = value
        if self._signals.carried_buffer(signal) is None:
            return
        if value.tensor is None:
            value.tensor, value.place = self._signals.all(signal), Place.NOW
        else:
            self._values[signal] = _lying(self._signals, signal)
            ops.copy(self._values[signal], value)


class _Gradients:
    """The gradients of the signals of a loop as values; none for a signal that nothing has come back to."""

    def __init__(self, dsignals: Signals) -> None:
        self._dsignals = dsignals
        self.changed: dict[str, Value] = {}
        """Those of signals that are not carried, as the loop leaves them."""

    def read(self, signal: str) -> Value | None:
        """Return the gradient that a part's backward pass gets for a signal that it wrote."""
        if signal in self.changed:
            return self.changed[signal]
        return _lying(self._dsignals, signal) if signal in self._dsignals else None

    def add(self, ops: Lowering, reads: tuple[str, ...], dinputs: Sequence[Value | None]) -> None:
        """Add what came back to the signals that a part read."""
        for read, value in zip(reads, dinputs, strict=True):
            if not value:
                continue
            if self._dsignals.carried_buffer(signal_of(read)) is not None:
                ops.add(_lying(self._dsignals, read), value)
            else:
                before = self.read(read)
                self.changed[read] = ops.sum((before, value)) if before else value


def _lying(signals: Signals, read: str) -> Value:
    """Return rows that are there already."""
    rows_RW = signals.all(signal_of(read))
    buffer = signals.carried_buffer(signal_of(read)) if is_previous(read) else None
    if buffer is not None:
        return Value(rows_RW.shape[1], buffer, Place.BEFORE)
    return Value(rows_RW.shape[1], rows_RW.contiguous(), Place.NOW)
