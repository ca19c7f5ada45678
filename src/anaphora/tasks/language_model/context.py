"""State of a language model at a place in a text, a value that can be kept, compared and gone on from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class Context:
    """A place in a text."""

    log_probs_V: Tensor
    """ln p of every symbol there."""
    state: Any
    """State of the stepper, of one row."""
    read: int
    """Tokens before it, ``<s>`` among them."""
    inside: bool
    """True if a word of its sentence stands before it, and the tokens of the next depend on that."""


class State:
    """A place in a text that a model writes into: ``model.BeginSentenceWrite(state)``.

    Two states are equal when the same model can no longer tell them apart.
    """

    def __init__(self) -> None:
        """It holds nothing yet."""
        self._context: Context | None = None

    @property
    def context(self) -> Context:
        """Return the context of a model's file; raise ValueError for anything else."""
        if self._context is None:
            raise ValueError("A state should be written before it is read: call BeginSentenceWrite(state) first.")
        return self._context

    def become(self, context: Context) -> None:
        """Hold another place."""
        self._context = context

    def _key(self) -> tuple[bytes, ...]:
        if self._context is None:
            return ()
        tensors = _tensors(self._context.state)
        return (str(self._context.inside).encode(), *(tensor.numpy().tobytes() for tensor in tensors))

    def __eq__(self, other: object) -> bool:
        """True if what both hold is the same to the last bit."""
        return self._key() == other._key() if isinstance(other, State) else NotImplemented

    def __hash__(self) -> int:
        """Equal states have equal ones; a state that is written again has another."""
        return hash(self._key())

    def __copy__(self) -> "State":
        other = State()
        other._context = self._context
        return other

    def __deepcopy__(self, memo: object) -> "State":
        return self.__copy__()


def _tensors(state: Any) -> Iterator[Tensor]:
    """The tensors of a state, in an order that is always the same."""
    if isinstance(state, Tensor):
        yield state
        return
    for part in [state[name] for name in sorted(state)] if isinstance(state, dict) else state:
        yield from _tensors(part)
