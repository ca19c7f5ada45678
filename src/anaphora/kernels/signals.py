"""The signals of a scan: the rows of all steps of each, and how a carried signal shares them with its past."""

import torch
from torch import Tensor

from anaphora.kernels.parts import is_previous, previous, signal_of
from anaphora.kernels.tensor_rows import TensorRows


class Signals:
    """The rows of every signal (R x width), by the name under which a part reads or writes it.

    For a carried signal one buffer of B + R rows holds the value before the first step and every step; ``"h"`` and
    ``"previous h"`` are two readings of it, one step apart. Gradients are laid out the same way, so that what flows one
    step back is added where the step before will look for it.
    """

    def __init__(self, rows: TensorRows) -> None:
        self._rows = rows
        self._signals: dict[str, Tensor] = {}
        self._carried: dict[str, Tensor] = {}
        self._lent: set[str] = set()  # signals whose rows belong to somebody else
        self._steps: dict[str, tuple[Tensor, ...]] = {}

    def __contains__(self, signal: str) -> bool:
        return signal in self._signals

    @property
    def like(self) -> Tensor:
        """One of the blocks, for type and device."""
        return next(iter(self._signals.values()))

    def carry(self, signal: str, first_BW: Tensor) -> None:
        """Make room for a carried signal behind the value before its first step."""
        buffer = first_BW.new_empty(len(first_BW) + len(self._rows), first_BW.shape[1])
        buffer[: len(first_BW)] = first_BW
        self._hold(signal, buffer)

    def carry_zeros(self, signal: str, like_BW: Tensor) -> None:
        """Make room to add to a carried signal; ``like_BW`` lends its size and type."""
        self._hold(signal, like_BW.new_zeros(len(like_BW) + len(self._rows), like_BW.shape[1]))

    def _hold(self, signal: str, buffer: Tensor) -> None:
        self._carried[signal] = buffer
        self._set(signal, buffer[len(buffer) - len(self._rows) :])

    def _set(self, signal: str, rows_RW: Tensor) -> None:
        self._signals[signal] = rows_RW
        self._steps.pop(signal, None)
        self._steps.pop(previous(signal), None)

    def initial(self, signal: str) -> Tensor:
        """Return the value of a carried signal before its first step, B x width."""
        buffer = self._carried[signal]
        return buffer[: len(buffer) - len(self._rows)]

    def all(self, signal: str) -> Tensor:
        return self._signals[signal]

    def carried_buffer(self, signal: str) -> Tensor | None:
        """Return the buffer of a carried signal: the value before its first step, and the rows of all steps."""
        return self._carried.get(signal)

    def read(self, read: str) -> Tensor:
        """Return all rows of what a part reads, 1 x R x width."""
        if is_previous(read):
            before_RW: Tensor = self._rows.before(self._carried[signal_of(read)])
            return before_RW.unsqueeze(0)
        return self._signals[read].unsqueeze(0)

    def read_step(self, read: str, step: int) -> Tensor:
        """Return the rows of one step of what a part reads, 1 x rows x width; to add to it is to add to the signal."""
        if read not in self._steps:
            self._steps[read] = self._all_steps(read)
        return self._steps[read][step]

    def _all_steps(self, read: str) -> tuple[Tensor, ...]:
        """Return the rows of every step of what a part reads: cut once, since a loop asks for them step by step."""
        active, signal = self._rows.active, signal_of(read)
        steps = torch.split(self._signals[signal].unsqueeze(0), active, 1)
        if not is_previous(read):
            return steps
        before = (self.initial(signal).unsqueeze(0), *steps)
        return tuple(block_1BW[:, :rows] for rows, block_1BW in zip(active, before, strict=False))

    def put(self, signal: str, rows_RW: Tensor) -> None:
        """Set all rows of a signal."""
        if signal in self._carried:
            self._signals[signal].copy_(rows_RW)
        else:
            self._set(signal, rows_RW)

    def lend(self, signal: str, rows_RW: Tensor) -> None:
        """Set all rows of a signal that is not carried to rows that others have as well."""
        self._set(signal, rows_RW)
        self._lent.add(signal)

    def put_step(self, signal: str, step: int, value_1BW: Tensor) -> None:
        if signal not in self._signals:
            self._set(signal, value_1BW.new_empty(len(self._rows), value_1BW.shape[2]))
        self.read_step(signal, step).copy_(value_1BW)

    def add(self, read: str, rows_RW: Tensor) -> None:
        """Add to all rows of what a part reads; ``rows_RW`` stays as it is."""
        if is_previous(read):
            self._carried[signal_of(read)].index_add_(0, self._rows.before_R, rows_RW)
        elif read not in self._signals:
            self.lend(read, rows_RW)
        elif read in self._lent:
            self._set(read, self._signals[read] + rows_RW)
            self._lent.discard(read)
        else:
            self._signals[read] += rows_RW

    def begin(self, signal: str, like_RW: Tensor) -> None:
        """Make room to add to a signal step by step: zeros if it has no rows; ``like_RW`` lends width and type."""
        if signal not in self._signals:
            self._set(signal, torch.zeros_like(like_RW))
        elif signal in self._lent:
            self._set(signal, self._signals[signal].clone())
        self._lent.discard(signal)
