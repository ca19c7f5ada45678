"""Learning rates that change as training goes. A schedule's whole state is a small dictionary of numbers."""

from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import Field

from anaphora.config import Config


class Schedule(Protocol):
    """A learning rate over time."""

    def rate(self, epochs: float) -> float:
        """The learning rate after so many passes over the training data, from 0."""

    def validated(self, improved: bool) -> None:
        """Take note of a validation."""

    def state(self) -> dict[str, float]:
        """All that later rates depend on."""

    def restore(self, state: Mapping[str, float]) -> None:
        """Take up a saved state."""


class Constant(Config):
    """The same rate throughout."""

    kind: Literal["constant"] = "constant"
    """Which schedule this is."""

    def build(self, rate: float) -> Schedule:
        """The schedule that stays at ``rate``."""
        return _Constant(rate)


class Plateau(Config):
    """The rate falls whenever validation has stopped improving."""

    kind: Literal["plateau"] = "plateau"
    """Which schedule this is."""
    factor: float = Field(0.5, gt=0, lt=1)
    """What the rate is multiplied by."""
    patience: int = Field(2, ge=1)
    """Validations in a row without improvement after which the rate falls."""
    minimum: float = Field(1e-6, ge=0)
    """The rate never falls below this."""

    def build(self, rate: float) -> Schedule:
        """The schedule that starts at ``rate``."""
        return _Plateau(rate, self)


class Decay(Config):
    """The rate falls steadily: it halves every ``half_life`` epochs, whatever validation says."""

    kind: Literal["decay"] = "decay"
    """Which schedule this is."""
    half_life: float = Field(5.0, gt=0)
    """Epochs after which the rate is half of what it was."""

    def build(self, rate: float) -> Schedule:
        """The schedule that starts at ``rate``."""
        return _Decay(rate, self)


class _Constant:
    def __init__(self, rate: float) -> None:
        self._rate = rate

    def rate(self, epochs: float) -> float:
        return self._rate

    def validated(self, improved: bool) -> None:
        pass

    def state(self) -> dict[str, float]:
        return {}

    def restore(self, state: Mapping[str, float]) -> None:
        pass


class _Decay(_Constant):
    def __init__(self, rate: float, config: Decay) -> None:
        super().__init__(rate)
        self._half_life = config.half_life

    def rate(self, epochs: float) -> float:
        return float(self._rate * 0.5 ** (epochs / self._half_life))


class _Plateau:
    def __init__(self, rate: float, config: Plateau) -> None:
        self._config = config
        self._rate = rate
        self._waited = 0

    def rate(self, epochs: float) -> float:
        return self._rate

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
