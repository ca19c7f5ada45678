"""Adaptation of a translator to similar sentences whose translations are known, asked for with a search."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from anaphora.errors import ConfigError

MOST = 32
"""Maximum number of pairs that one sentence is adapted to."""


class SimilarPair(NamedTuple):
    """A known translation of a similar sentence."""

    source: str
    target: str
    similarity: float
    """Similarity of its source to the sentence, from 0 to 1."""


class Adaptation(NamedTuple):
    """Mix the tokens of known translations into every prediction: see ``search.mixing``."""

    find: Callable[[str], Sequence[SimilarPair]]
    """The pairs of a source text, the most similar first, such as those of a translation memory."""
    weight: float = 0.9
    """Weight of the known translations where the best match has a similarity of 1; it falls with the similarity."""
    temperature: float = 0.05
    """Temperature of the distribution over known tokens; the lower, the more the nearest counts."""
    pairs: int = 8
    """Maximum number of pairs for a sentence."""

    def check(self) -> None:
        """Raise ConfigError for values out of range."""
        if not 0 < self.weight < 1:
            raise ConfigError(f"The weight of adaptation should be above 0 and below 1, but is {self.weight:g}.")
        if not 0 < self.temperature < float("inf"):
            raise ConfigError(
                f"The temperature of adaptation should be finite and above 0, but is {self.temperature:g}."
            )
        if not 1 <= self.pairs <= MOST:
            raise ConfigError(f"Adaptation should take 1 to {MOST} pairs for a sentence, but is to take {self.pairs}.")

    def weight_for(self, similarity: float) -> float:
        """Return the weight where the best match has this similarity."""
        return self.weight * similarity**2

    def __str__(self) -> str:
        return f"adapted to {self.pairs} similar pairs, weight {self.weight:g}, temperature {self.temperature:g}"
