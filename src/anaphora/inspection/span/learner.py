"""One recurrent layer that learns one task of memory."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from anaphora.inspection.span.tasks import Sequences, SpanTask
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.randomness import generator
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Start
from anaphora.training.clipping import clip, global_norm
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Rule

TESTED = 512
"""Sequences that accuracy is measured on; they are never trained on."""


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
        """What it answers at the last steps, A x B x outputs."""
        steps, count, _ = inputs_TBD.shape
        read = self.stack(inputs_TBD, torch.full((count,), steps))
        answers_ABO: Tensor = self.readout(read.outputs["h"][-answers:])
        return answers_ABO


@dataclass(frozen=True)
class Setting:
    """How a network is made and trained."""

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
        """The fraction of right answers on the test sequences."""
        self.network.eval()
        answers_ABO = self.network(self._test.inputs_TBD, len(self._test.targets_AB))
        self.network.train()
        return self.task.accuracy(answers_ABO, self._test.targets_AB)

    def reach(self) -> float:
        """|dL_T/dx_1|: of the loss of the last step alone, by the first input; the mean over the test sequences."""
        inputs_TBD = self._test.inputs_TBD.clone().requires_grad_()
        answers_1BO = self.network(inputs_TBD, 1)
        loss = self.task.loss(answers_1BO, self._test.targets_AB[-1:]) * TESTED
        [dx_TBD] = torch.autograd.grad(loss, inputs_TBD)
        return float(dx_TBD[0].norm(dim=1).mean())
