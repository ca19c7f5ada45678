"""Remedies against vanishing and exploding gradients, one by one, on one task: copy at distance 20.

|dL_T/dx_1| is measured before and after training, since some remedies (clipping, momentum, Adam) leave the derivative
at given weights as it is and change only where training goes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anaphora.events import Progress, Report, silent
from anaphora.inspection.learner import TASKS, Learner, Setting
from anaphora.inspection.result import Result
from anaphora.kernels.cells import Elman, Lstm
from anaphora.nn.stack import StackConfig
from anaphora.nn.weights import Uniform, Xavier
from anaphora.training.rules import Adam, Momentum, Rule, Sgd
from anaphora.wording import inflect

DISTANCE, UPDATES, SIZE = 20, 500, 128
RATE = 0.1
"""Learning rate of gradient descent and momentum."""


def _setting(rule: Rule, clip: float = 0.0, uniform: bool = False, **stack: Any) -> Setting:
    config = StackConfig(**{"cell": Elman(), "size": SIZE, **stack})
    return Setting(config, Uniform(range=0.1) if uniform else Xavier(), rule, clip)


_SGD = Sgd(learning_rate=RATE)
REMEDIES: Mapping[str, Setting] = {
    "simple unit, uniform weights, SGD": _setting(_SGD, uniform=True),
    "  gradient clipping": _setting(_SGD, 1.0, uniform=True),
    "  Xavier initialization": _setting(_SGD),
    "  momentum": _setting(Momentum(learning_rate=RATE), uniform=True),
    "  Adam": _setting(Adam(learning_rate=1e-3), uniform=True),
    "two layers": _setting(_SGD, uniform=True, layers=2),
    "  residual connection": _setting(_SGD, uniform=True, layers=2, residual=True),
    "LSTM, forget bias 0, Adam": _setting(Adam(learning_rate=1e-3), uniform=True, cell=Lstm(forget_bias=0.0)),
    "  forget bias 1": _setting(Adam(learning_rate=1e-3), uniform=True, cell=Lstm(forget_bias=1.0)),
}
"""Networks that are compared; an indented one changes the last one that is not."""


@dataclass(frozen=True)
class Remedy:
    """One network after training."""

    name: str
    accuracy: float
    """The fraction of symbols that are right; one of 8 by chance."""
    before: float
    """|dL_T/dx_1| at the initial weights."""
    after: float
    """|dL_T/dx_1| after training."""


@dataclass(frozen=True)
class Remedies(Result):
    """Results of all remedies on the same sequences."""

    distance: int
    updates: int
    found: tuple[Remedy, ...]

    def lines(self) -> Iterator[str]:
        yield f"copy at distance {self.distance}, {inflect(self.updates, 'update')}"
        yield f"  {'':<36}{'accuracy':>10}{'|dL_T/dx_1| before':>21}{'after':>12}"
        for one in self.found:
            yield f"  {one.name:<36}{one.accuracy:>10.1%}{one.before:>21.2e}{one.after:>12.2e}"


def remedies(distance: int = DISTANCE, updates: int = UPDATES, report: Report = silent) -> Remedies:
    """Train every network of ``REMEDIES`` for so many updates of 32 sequences."""
    found = []
    for number, (name, setting) in enumerate(REMEDIES.items()):
        report(Progress("remedies", number, len(REMEDIES), "networks"))
        learner = Learner(setting, TASKS["copy"], distance, seed=1)
        before = learner.reach()
        for _ in range(updates):
            learner.update()
        found.append(Remedy(name, learner.accuracy(), before, learner.reach()))
    report(Progress("remedies", len(REMEDIES), len(REMEDIES), "networks"))
    return Remedies(distance, updates, tuple(found))
