"""What raw text is put through."""

from typing import Any, Protocol

from anaphora.protocols import Model, TextModel


class Network(Model, Protocol):
    """A Model that is a torch module."""

    def eval(self) -> Any:
        """Turn off what only training does."""


class TextNetwork(Network, TextModel, Protocol):
    """A Network for running text."""
