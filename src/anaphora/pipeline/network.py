"""What raw text is put through."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from anaphora.protocols import Model, Stepper, TextModel
from anaphora.search.ensemble import Ensemble, Mean
from anaphora.search.fusion import Fused
from anaphora.search.known import Known


class Searched(Protocol):
    """What can be searched."""

    def stepper(self) -> Stepper:
        """One step at a time; turns off what only training does."""


class Network(Model, Protocol):
    """A Model that is a torch module."""

    def eval(self) -> Any:
        """Turn off what only training does."""


class TextNetwork(Network, TextModel, Protocol):
    """A Network for running text."""


class Networks:
    """Several networks that are searched as one."""

    def __init__(self, members: Sequence[Searched], mean: Mean) -> None:
        """How they are averaged: see ``search.ensemble``."""
        self._members, self._mean = members, mean

    def stepper(self) -> Ensemble:
        """All of them one step at a time."""
        return Ensemble([member.stepper() for member in self._members], self._mean)


class Fusion:
    """A network that is searched together with a language model."""

    def __init__(self, network: Searched, model: Callable[[], Stepper], weight: float) -> None:
        """``model`` makes its Stepper: see ``search.fusion``."""
        self._network, self._model, self._weight = network, model, weight

    def stepper(self) -> Fused:
        """Both one step at a time."""
        return Fused(self._network.stepper(), self._model(), self._weight)


class KnownWords:
    """A network that writes known words alone."""

    def __init__(self, network: Searched) -> None:
        """See ``search.known``."""
        self._network = network

    def stepper(self) -> Known:
        """One step at a time."""
        return Known(self._network.stepper())
