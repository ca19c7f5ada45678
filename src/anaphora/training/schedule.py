"""Learning rates that change as training goes. A schedule's whole state is a small dictionary of numbers."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from anaphora.config import Config, by_kind


class Schedule:
    """A learning rate over time: at first rising in equal steps if asked to, then of a shape of its own."""

    def __init__(self, rate: float, warmup: int) -> None:
        """``rate`` to start from, reached after ``warmup`` updates."""
        self._rate, self._warmup = rate, warmup

    def rate(self, epochs: float, update: int) -> float:
        """The rate of ``update`` (from 1), after this many passes over the training data (from 0)."""
        return self._shape(epochs, update) * min(1.0, update / max(1, self._warmup))

    def validated(self, improved: bool) -> None:
        """Take note of a validation."""

    def state(self) -> dict[str, float]:
        """All that later rates depend on."""
        return {}

    def restore(self, state: Mapping[str, float]) -> None:
        """Take up a saved state."""

    def _shape(self, epochs: float, update: int) -> float:
        return self._rate


class ScheduleConfig(Config):
    """What all schedules share."""

    warmup: int = Field(0, ge=0)
    """Updates over which the rate rises to what it would be, in equal steps; 0 begins with it."""

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule of a rate, for a training of this many epochs, which a straight line falls over."""
        raise NotImplementedError


class Constant(ScheduleConfig):
    """The same rate throughout."""

    kind: Literal["constant"] = "constant"

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule that stays at ``rate``."""
        return Schedule(rate, self.warmup)


class Plateau(ScheduleConfig):
    """The rate falls whenever validation has stopped improving."""

    kind: Literal["plateau"] = "plateau"
    factor: float = Field(0.5, gt=0, lt=1)
    """What the rate is multiplied by."""
    patience: int = Field(2, ge=1)
    """Validations in a row without improvement after which the rate falls."""
    minimum: float = Field(1e-6, ge=0)
    """The rate never falls below this."""

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule that starts at ``rate``."""
        return _Plateau(rate, self)


class Decay(ScheduleConfig):
    """The rate falls steadily: it halves every ``half_life`` epochs, whatever validation says."""

    kind: Literal["decay"] = "decay"
    half_life: float = Field(5.0, gt=0)
    """Epochs after which the rate is half of what it was."""

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule that starts at ``rate``."""
        return _Decay(rate, self)


class Halving(ScheduleConfig):
    """The same rate for some epochs, then a fixed share of it every epoch (Zaremba et al. 2014).

    In epoch n (from 1) it is rate times factor^max(0, n - after).
    """

    kind: Literal["halving"] = "halving"
    after: int = Field(4, ge=0)
    """Epochs at the whole rate."""
    factor: float = Field(0.5, gt=0, lt=1)
    """What the rate is multiplied by at the start of every later epoch."""

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule that starts at ``rate``."""
        return _Halving(rate, self)


class Linear(ScheduleConfig):
    """The rate falls in a straight line, from its whole at the start to a share of it after this many epochs."""

    kind: Literal["linear"] = "linear"
    epochs: float = Field(0.0, ge=0)
    """Epochs after which the rate falls no further; 0 takes ``training.epochs``, the later one where that is moved."""
    final: float = Field(0.02, ge=0, lt=1)
    """Share of the rate that is left then."""

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule that starts at ``rate``."""
        return _Linear(rate, self, epochs)


class InverseRoot(ScheduleConfig):
    """The rate falls with the root of the updates made: rate times sqrt(w / max(u, w)) at update u.

    w is ``warmup``, or 1 without any, so that the rate is at its highest when warming up is over (Vaswani et al. 2017,
    equation 3, where that highest rate is (d w)^-0.5).
    """

    kind: Literal["inverse-root"] = "inverse-root"
    warmup: int = Field(4000, ge=0)
    """Updates over which the rate rises to its highest, in equal steps."""

    def build(self, rate: float, epochs: int) -> Schedule:
        """The schedule whose highest rate is ``rate``."""
        return _InverseRoot(rate, self.warmup)


AnySchedule = Annotated[
    Plateau | Constant | Decay | Halving | Linear | InverseRoot,
    Field(discriminator="kind"),
    by_kind,
]
"""A schedule as a recipe names it: ``"constant"``, or ``{kind = "halving", after = 6, factor = 0.83}``."""


class _Decay(Schedule):
    def __init__(self, rate: float, config: Decay) -> None:
        super().__init__(rate, config.warmup)
        self._half_life = config.half_life

    def _shape(self, epochs: float, update: int) -> float:
        return float(self._rate * 0.5 ** (epochs / self._half_life))


class _Halving(Schedule):
    def __init__(self, rate: float, config: Halving) -> None:
        super().__init__(rate, config.warmup)
        self._config = config

    def _shape(self, epochs: float, update: int) -> float:
        epoch = int(epochs) + 1
        return float(self._rate * self._config.factor ** max(0, epoch - self._config.after))


class _Linear(Schedule):
    def __init__(self, rate: float, config: Linear, epochs: int) -> None:
        super().__init__(rate, config.warmup)
        self._final, self._epochs = config.final, config.epochs or epochs

    def _shape(self, epochs: float, update: int) -> float:
        left = max(0.0, 1 - epochs / self._epochs)
        return float(self._rate * (self._final + (1 - self._final) * left))


class _InverseRoot(Schedule):
    def _shape(self, epochs: float, update: int) -> float:
        start = max(1, self._warmup)
        return float(self._rate * (start / max(update, start)) ** 0.5)


class _Plateau(Schedule):
    def __init__(self, rate: float, config: Plateau) -> None:
        super().__init__(rate, config.warmup)
        self._config = config
        self._waited = 0

    def validated(self, improved: bool) -> None:
        self._waited = 0 if improved else self._waited + 1
        if self._waited == self._config.patience:
            self._waited = 0
            # a rate that starts below the minimum stays where it is instead of rising to it
            self._rate = min(self._rate, max(self._rate * self._config.factor, self._config.minimum))

    def state(self) -> dict[str, float]:
        return {"rate": self._rate, "waited": self._waited}

    def restore(self, state: Mapping[str, float]) -> None:
        self._rate, self._waited = float(state["rate"]), int(state["waited"])
