"""Tasks that need a memory of a known length; each answer depends on an input ``distance`` steps before it.

copy      3 symbols of 8, blanks, a cue; then the 3 symbols in order, each ``distance`` steps after it was read
(after Hochreiter and Schmidhuber 1997, and Arjovsky, Shah and Bengio 2016)
recall    one of 8 symbols with a mark, then others without; at a cue, ``distance`` steps later, the marked one
adding    ``distance`` numbers from 0 to 1, one marked in either half; at the end the sum of both
(Hochreiter and Schmidhuber 1997, task 4)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss, one_hot

SYMBOLS = 8
COPIED = 3
CLOSE = 0.04
"""A sum is right within this."""


@dataclass(frozen=True)
class Sequences:
    """A batch of a task."""

    inputs_TBD: Tensor
    targets_AB: Tensor
    """The answers of the last A steps: int64 symbols, or a real number."""


@dataclass(frozen=True)
class SpanTask:
    """One kind of task."""

    name: str
    draw: Callable[[int, int, torch.Generator], Sequences]
    """From a distance, a number of sequences and a source of randomness."""
    width: int
    """D, numbers of an input."""
    outputs: int
    """Numbers of an answer: one for each symbol, or one."""
    shortest: int
    """The shortest distance there is."""

    def loss(self, answers_ABO: Tensor, targets_AB: Tensor) -> Tensor:
        """What is minimised: the mean negative log-likelihood of symbols, the mean squared error of numbers."""
        if self.outputs == 1:
            return mse_loss(answers_ABO.squeeze(2), targets_AB)
        return cross_entropy(answers_ABO.flatten(0, 1), targets_AB.flatten())

    def accuracy(self, answers_ABO: Tensor, targets_AB: Tensor) -> float:
        """The fraction of right answers: the most probable symbol, or a sum within ``CLOSE``."""
        if self.outputs == 1:
            return float(((answers_ABO.squeeze(2) - targets_AB).abs() < CLOSE).float().mean())
        return float((answers_ABO.argmax(2) == targets_AB).float().mean())


def _copy(distance: int, count: int, generator: torch.Generator) -> Sequences:
    symbols_AB = torch.randint(SYMBOLS, (COPIED, count), generator=generator)
    inputs_TBD = torch.zeros(distance + COPIED, count, SYMBOLS + 1)
    inputs_TBD[:COPIED, :, :SYMBOLS] = one_hot(symbols_AB, SYMBOLS)
    inputs_TBD[distance, :, SYMBOLS] = 1
    return Sequences(inputs_TBD, symbols_AB)


def _recall(distance: int, count: int, generator: torch.Generator) -> Sequences:
    symbols_TB = torch.randint(SYMBOLS, (distance + 1, count), generator=generator)
    inputs_TBD = torch.zeros(distance + 1, count, SYMBOLS + 2)
    inputs_TBD[:distance, :, :SYMBOLS] = one_hot(symbols_TB[:distance], SYMBOLS)
    inputs_TBD[0, :, SYMBOLS] = 1
    inputs_TBD[distance, :, SYMBOLS + 1] = 1
    return Sequences(inputs_TBD, symbols_TB[:1])


def _adding(distance: int, count: int, generator: torch.Generator) -> Sequences:
    numbers_TB = torch.rand(distance, count, generator=generator)
    half = distance // 2
    marks_TB = torch.zeros(distance, count)
    rows_B = torch.arange(count)
    marks_TB[torch.randint(half, (count,), generator=generator), rows_B] = 1
    marks_TB[half + torch.randint(distance - half, (count,), generator=generator), rows_B] = 1
    return Sequences(torch.stack([numbers_TB, marks_TB], 2), (numbers_TB * marks_TB).sum(0, keepdim=True))


TASKS: Mapping[str, SpanTask] = {
    "copy": SpanTask("copy", _copy, SYMBOLS + 1, SYMBOLS, COPIED),
    "adding": SpanTask("adding", _adding, 2, 1, 2),
    "recall": SpanTask("recall", _recall, SYMBOLS + 2, SYMBOLS, 1),
}
