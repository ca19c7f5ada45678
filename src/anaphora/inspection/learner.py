"""Recurrent layers that learn tasks of memory: each answer depends on an input ``distance`` steps before it.

copy      3 symbols of 8, blanks, a cue; then the 3 symbols in order, each ``distance`` steps after it was read
(after Hochreiter and Schmidhuber 1997, and Arjovsky, Shah and Bengio 2016)
recall    one of 8 symbols with a mark, then others without; at a cue, ``distance`` steps later, the marked one
adding    ``distance`` numbers from 0 to 1, one marked in either half; at the end the sum of both
(Hochreiter and Schmidhuber 1997, task 4)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss, one_hot

from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.randomness import generator
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Start
from anaphora.training.clipping import clip, global_norm
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Rule

SYMBOLS = 8
COPIED = 3
CLOSE = 0.04
"""A sum is right within this."""
TESTED = 512
"""Sequences that accuracy is measured on; they are never trained on."""


class Sequences(NamedTuple):
    """A batch of a task."""

    inputs_TBD: Tensor
    targets_AB: Tensor
    """The answers of the last A steps: int64 symbols, or a real number."""


@dataclass(frozen=True)
class SpanTask:
    """One kind of task."""

    name: str
    draw: Callable[[int, int, torch.Generator], Sequences]
    """Function from a distance, a number of sequences and a source of randomness to the sequences."""
    width: int
    """D, numbers of an input."""
    outputs: int
    """Numbers of an answer: one for each symbol, or one."""

    def loss(self, answers_ABO: Tensor, targets_AB: Tensor) -> Tensor:
        """Return the loss: the mean negative log-likelihood of symbols, the mean squared error of numbers."""
        if self.outputs == 1:
            return mse_loss(answers_ABO.squeeze(2), targets_AB)
        return cross_entropy(answers_ABO.flatten(0, 1), targets_AB.flatten())

    def accuracy(self, answers_ABO: Tensor, targets_AB: Tensor) -> float:
        """Return the fraction of right answers: the most probable symbol, or a sum within ``CLOSE``."""
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
    "copy": SpanTask("copy", _copy, SYMBOLS + 1, SYMBOLS),
    "adding": SpanTask("adding", _adding, 2, 1),
    "recall": SpanTask("recall", _recall, SYMBOLS + 2, SYMBOLS),
}


class Network(nn.Module):
    """A stack of recurrent layers, and a linear readout of its answers."""

    def __init__(self, config: StackConfig, task: SpanTask) -> None:
        super().__init__()
        self.stack = Stack(config, task.width, "span")
        self.readout = nn.Linear(config.size, task.outputs)

    def initialise(self, start: Start, seed: int) -> None:
        source = generator(seed, "span")
        self.stack.initialise(start, source)
        with torch.no_grad():
            nn.init.xavier_uniform_(self.readout.weight, generator=source)
            nn.init.zeros_(self.readout.bias)

    def forward(self, inputs_TBD: Tensor, answers: int) -> Tensor:
        """Return its answers at the last steps, A x B x outputs."""
        steps, count, _ = inputs_TBD.shape
        read = self.stack(inputs_TBD, torch.full((count,), steps))
        return torch.as_tensor(self.readout(read.outputs["h"][-answers:]))


@dataclass(frozen=True)
class Setting:
    """Options of a network and its training."""

    stack: StackConfig
    start: Start
    rule: Rule
    clip_norm: float
    """0 clips nothing."""
    batch: int = 32


class Learner:
    """A network of one setting on one task at one distance; everything it draws depends on the seed alone."""

    def __init__(self, setting: Setting, task: SpanTask, distance: int, seed: int) -> None:
        self._setting, self.task, self._distance = setting, task, distance
        self.network = Network(setting.stack, task)
        self.network.initialise(setting.start, seed)
        self._optimizer = NamedOptimizer(setting.rule, self.network)
        self._drawn = generator(seed, f"span {task.name} {distance}")
        self._test = task.draw(distance, TESTED, generator(seed, f"span test {task.name} {distance}"))
        self._runtime = replace(Runtime(), training=True, seed=seed)
        self.updates = 0

    def update(self) -> None:
        """Learn from one new batch."""
        setting = self._setting
        found = self.task.draw(self._distance, setting.batch, self._drawn)
        self.updates += 1
        self._optimizer.clear()
        with running(replace(self._runtime, update=self.updates)):
            self.loss(found).backward()  # type: ignore[no-untyped-call]
        gradients = self._optimizer.gradients()
        if setting.clip_norm:
            clip(gradients, global_norm(gradients), largest_norm=setting.clip_norm)
        self._optimizer.step(setting.rule.learning_rate, 1)

    def loss(self, sequences: Sequences) -> Tensor:
        answers_ABO = self.network(sequences.inputs_TBD, len(sequences.targets_AB))
        return self.task.loss(answers_ABO, sequences.targets_AB)

    @torch.no_grad()
    def accuracy(self) -> float:
        """Return the fraction of right answers on the test sequences."""
        self.network.eval()
        answers_ABO = self.network(self._test.inputs_TBD, len(self._test.targets_AB))
        self.network.train()
        return self.task.accuracy(answers_ABO, self._test.targets_AB)

    def reach(self) -> float:
        """Return |dL_T/dx_1|, of the loss of the last step by the first input; the mean over the test sequences."""
        inputs_TBD = self._test.inputs_TBD.clone().requires_grad_()
        answers_1BO = self.network(inputs_TBD, 1)
        loss = self.task.loss(answers_1BO, self._test.targets_AB[-1:]) * TESTED
        [dx_TBD] = torch.autograd.grad(loss, inputs_TBD)
        return float(dx_TBD[0].norm(dim=1).mean())
