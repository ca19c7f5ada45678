"""Looping stages of a program in C with their gradient: all steps forward in one call, all of them back in another.

Values and gradients lie where the loop of Python has them (``signals.py``), so that stages of both kinds stand side by
side.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from anaphora.kernels.compiled.loop import Place
from anaphora.kernels.lowering import Lowering, Value
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.prepared import array_of
from anaphora.kernels.program import Stage
from anaphora.kernels.recorder import Recorder
from anaphora.kernels.rows import Rows
from anaphora.kernels.signals import Signals


class RecordedSteps(NamedTuple):
    """Values of the steps forward, saved for those back."""

    forward: Lowering
    saved: tuple[Any, ...]
    """Values saved by each part."""


def forward(stage: Stage, rows: Rows, matmuls: Matmuls, signals: Signals) -> RecordedSteps:
    """Take all steps, and keep what the backward pass needs."""
    values = _Values(signals)
    ops = Lowering(matmuls, rows, keeps=True)
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
                signals.put(signal, torch.from_numpy(ops.all_rows(values.read(signal))))
    return RecordedSteps(ops, tuple(saved))


def backward(stage: Stage, rows: Rows, matmuls: Matmuls, recorded: RecordedSteps, dsignals: Signals) -> None:
    """Undo all steps: the gradients of what the stage read are added to ``dsignals``, those of weights recorded."""
    gradients = _Gradients(dsignals)
    ops = Lowering(matmuls, rows, keeps=False, back_from=recorded.forward)
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
        dsignals.lend(signal, torch.from_numpy(ops.all_rows(value)))


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
        if value.array is None:
            value.array, value.place = array_of(self._signals.all(signal)), Place.NOW
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
    """Return the rows of a signal that the forward pass has left."""
    rows_RW = signals.all(signal_of(read))
    buffer = signals.carried_buffer(signal_of(read)) if is_previous(read) else None
    if buffer is not None:
        return Value(rows_RW.shape[1], array_of(buffer), Place.BEFORE)
    return Value(rows_RW.shape[1], array_of(rows_RW.contiguous()), Place.NOW)
