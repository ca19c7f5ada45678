"""Capabilities that inspection asks of a predictor: a text as its network reads it, and as a search begins with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.request import SearchRequest


@dataclass(frozen=True)
class Example:
    """One text as a batch of one row."""

    batch: Batch
    """Batch with targets, so that it has a loss."""
    reads: Mapping[str, tuple[str, ...]]
    """The pieces that a module of the network reads step by step, by its name: "encoder", "decoder", "recurrence"; and
    "features", behind those of the encoder."""
    predicts: tuple[str, ...]
    """The pieces that are predicted; empty where these are no pieces of text."""


@runtime_checkable
class GivesExamples(Protocol):
    """A predictor of a network that reads text."""

    def example(self, text: str, target: str | None = None) -> Example:
        """Return a text with its target; without one, with what the network itself predicts.

        Raises DataError for a text that is too long, ConfigError for a target where there can be none.
        """


class Search(NamedTuple):
    """A search over one text."""

    stepper: Stepper
    batch: Batch
    prefix: int
    """Number of tokens that are given, which the output begins with."""
    request: SearchRequest
    """Request, whose maximum length is one number, prefix and ``</s>`` included."""
    pieces: Callable[[Sequence[int]], list[str]]
    """Pieces of token ids."""


@runtime_checkable
class GivesSearches(Protocol):
    """A predictor that writes text token by token."""

    def search_for(self, text: str) -> Search:
        """Return the search that translates or continues a text; DataError for one that is too long."""
