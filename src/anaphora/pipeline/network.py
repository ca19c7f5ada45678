"""What raw text is put through."""

from typing import Any, Protocol

from anaphora.protocols import Model


class Network(Model, Protocol):
    """A Model that is a torch module."""

    def eval(self) -> Any:
        """Turn off what only training does."""
