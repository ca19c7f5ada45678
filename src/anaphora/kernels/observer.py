"""Observer of a scan: every signal of every step, what parts compute inside, and every gradient.

An observer is part of the runtime (``with running(replace(runtime, observer=..)):``). It is given copies, so a scan
has the same bits with and without one, and without one nothing is kept for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.program import Program, stages
from anaphora.kernels.runtime import Observer
from anaphora.kernels.signals import Signals
from anaphora.kernels.tensor_rows import TensorRows

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Trajectory:
    """One scan: what went in, and what it computed; sentences in the order of the batch, zero past their ends."""

    program: Program
    inputs: Tensors
    first: Tensors
    weights: Tensors
    memory: Tensors
    lengths_B: Tensor
    """Lengths on the CPU."""
    signals: Tensors = field(default_factory=dict)
    """T x B x width for each signal that is read or written, inputs included."""
    inside: Tensors = field(default_factory=dict)
    """T x B x width for what parts compute between reading and writing, by ``part.name``: the gates of cells, as in
    "layer0.f", and the centre of an attention window, "attention.centre"."""


@dataclass(frozen=True)
class Gradients:
    """The gradient of each signal of a scan: what a change of the signal does to the loss.

    That of a carried signal, such as the memory of an LSTM, is the gradient of the tensor that was carried: what its
    own unit did with it in the same step is part of the gradient of the other signals that this unit wrote.
    """

    signals: Tensors
    """T x B x width; only signals that lead to something whose gradient is wanted."""
    first: Tensors
    """B x width by carried signal: of the value before the first step."""
    outputs: Tensors
    """T x B x width for each signal that the program returns: what came from outside the scan."""
    last: Tensors
    """B x width by carried signal: what came from outside to its value at the last step."""


class Observation:
    """One scan under an observer."""

    def __init__(self, observer: Observer, rows: TensorRows, given: Trajectory) -> None:
        """``given`` has what goes in, in the order of the batch."""
        self._observer, self._rows, self._seen = observer, rows, given

    def forward(self, blocks: Signals, saved: Sequence[Sequence[Sequence[Any]]]) -> None:
        """Report the signals of ``blocks``, and what is inside what each part of each stage ``saved`` step by step."""
        program = self._seen.program
        names = dict.fromkeys((*self._seen.inputs, *(name for part in program.parts for name in part.writes)))
        signals = {name: self._rows.to_batch(blocks.all(name)) for name in names}
        inside = dict[str, Tensor]()
        for stage, steps in zip(stages(program), saved, strict=True):
            for number, part in enumerate(stage.parts):
                opened = [part.inside(step[number]) for step in steps]
                for name in opened[0]:
                    if part.by_sentence and not stage.loops:
                        rows_RW = self._rows.of_grid(opened[0][name])
                    else:
                        rows_RW = torch.cat([step[name].flatten(0, 1) for step in opened])
                    inside[f"{part.name}.{name}"] = self._rows.to_batch(rows_RW)
        self._seen = replace(self._seen, signals=signals, inside=inside)
        self._observer.forward(self._seen)

    def backward(self, dsignals: Signals, given: Sequence[Tensor]) -> None:
        """Report the gradients of ``dsignals``, and those that were ``given`` to the scan."""
        program, back_B = self._seen.program, self._rows.back_B
        signals = {name: self._rows.to_batch(dsignals.all(name)) for name in self._seen.signals if name in dsignals}
        first = {name: dsignals.initial(name).index_select(0, back_B) for name in program.carried}
        outputs = dict(zip(program.returns, given, strict=False))
        of_last = zip(program.carried, given[len(outputs) :], strict=True)
        last = {name: value_BW.index_select(0, back_B) for name, value_BW in of_last}
        self._observer.backward(self._seen, Gradients(signals, first, outputs, last))
