"""Learning rates that change as training goes. A schedule's whole state is a small dictionary of numbers."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from anaphora.config import ByKind, Config


class ScheduleConfig(Config):
    """Options of all schedules."""

    warmup: int = Field(0, ge=0)
    """Updates over which the rate rises to what it would be, in equal steps; 0 begins with it."""

    def share(self, passed: float, update: int, epochs: int) -> float:
        """Return the factor of the rate at ``update`` (from 1), after ``passed`` (from 0) of ``epochs`` epochs."""
        return 1.0

    def build(self, rate: float, epochs: int) -> "Schedule":
        """Return the schedule of a training of so many epochs that starts from ``rate``."""
        return Schedule(self, rate, epochs)


class Constant(ScheduleConfig):
    """The same rate throughout."""

    kind: Literal["constant"] = "constant"


class Plateau(ScheduleConfig):
    """The rate falls whenever validation has stopped improving."""

    kind: Literal["plateau"] = "plateau"
    factor: float = Field(0.5, gt=0, lt=1)
    """Factor of the learning rate."""
    patience: int = Field(2, ge=1)
    """Validations in a row without improvement after which the rate falls."""
    min_learning_rate: float = Field(1e-6, ge=0)
    """The rate never falls below this."""

    def build(self, rate: float, epochs: int) -> "Schedule":
        return _Plateau(self, rate, epochs)


class Decay(ScheduleConfig):
    """The rate falls steadily: it halves every ``half_life`` epochs, whatever validation says."""

    kind: Literal["decay"] = "decay"
    half_life: float = Field(5.0, gt=0)
    """Epochs after which the rate is half of what it was."""

    def share(self, passed: float, update: int, epochs: int) -> float:
        """0.5^(passed / half_life)."""
        return float(0.5 ** (passed / self.half_life))


class Halving(ScheduleConfig):
    """The same rate for some epochs, then a fixed fraction of it every epoch (Zaremba et al. 2014).

    In epoch n (from 1) it is rate times factor^max(0, n - after).
    """

    kind: Literal["halving"] = "halving"
    after: int = Field(4, ge=0)
    """Epochs at the whole rate."""
    factor: float = Field(0.5, gt=0, lt=1)
    """Factor of the learning rate at the start of every later epoch."""

    def share(self, passed: float, update: int, epochs: int) -> float:
        """factor^max(0, n - after)."""
        return float(self.factor ** max(0, int(passed) + 1 - self.after))


class Linear(ScheduleConfig):
    """The rate falls in a straight line, from its whole at the start to a fraction of it after this many epochs."""

    kind: Literal["linear"] = "linear"
    epochs: float = Field(0.0, ge=0)
    """Epochs after which the rate falls no further; 0 takes ``training.epochs``, the later one where that is moved."""
    final: float = Field(0.02, ge=0, lt=1)
    """Fraction of the learning rate that is left then."""

    def share(self, passed: float, update: int, epochs: int) -> float:
        """Return a number from 1 to ``final``."""
        return self.final + (1 - self.final) * max(0.0, 1 - passed / (self.epochs or epochs))


class InverseRoot(ScheduleConfig):
    """The rate falls with the root of the updates made: rate times sqrt(w / max(u, w)) at update u.

    w is ``warmup``, or 1 without any, so that the rate is at its highest when warming up is over (Vaswani et al. 2017,
    equation 3, where that highest rate is (d w)^-0.5).
    """

    kind: Literal["inverse-root"] = "inverse-root"
    warmup: int = Field(4000, ge=0)
    """Updates over which the rate rises to its highest, in equal steps."""

    def share(self, passed: float, update: int, epochs: int) -> float:
        """sqrt(w / max(u, w))."""
        start = max(1, self.warmup)
        return float((start / max(update, start)) ** 0.5)


AnySchedule = ByKind[Plateau | Constant | Decay | Halving | Linear | InverseRoot]
"""A schedule as a recipe names it: ``"constant"``, or ``{kind = "halving", after = 6, factor = 0.83}``."""


class Schedule:
    """A learning rate over time: at first rising in equal steps if asked to, then of the shape of its ``config``."""

    def __init__(self, config: ScheduleConfig, rate: float, epochs: int) -> None:
        """``rate`` to start from, ``epochs`` of the whole training."""
        self._config, self._rate, self._epochs = config, rate, epochs

    def rate(self, epochs: float, update: int) -> float:
        """Return the rate of ``update`` (from 1), after this many passes over the training data (from 0)."""
        warm = min(1.0, update / max(1, self._config.warmup))
        return self._rate * self._config.share(epochs, update, self._epochs) * warm

    def observe_validation(self, improved: bool) -> None:
        """Take note of a validation."""

    def state(self) -> dict[str, float]:
        """Return all that later rates depend on."""
        return {}

    def restore(self, state: Mapping[str, float]) -> None:
        """Restore a saved state."""


class _Plateau(Schedule):
    def __init__(self, config: Plateau, rate: float, epochs: int) -> None:
        super().__init__(config, rate, epochs)
        self._plateau, self._waited = config, 0

    def observe_validation(self, improved: bool) -> None:
        self._waited = 0 if improved else self._waited + 1
        if self._waited == self._plateau.patience:
            self._waited = 0
            # a rate that starts below the minimum stays where it is instead of rising to it
            self._rate = min(self._rate, max(self._rate * self._plateau.factor, self._plateau.min_learning_rate))

    def state(self) -> dict[str, float]:
        return {"rate": self._rate, "waited": self._waited}

    def restore(self, state: Mapping[str, float]) -> None:
        self._rate, self._waited = float(state["rate"]), int(state["waited"])
