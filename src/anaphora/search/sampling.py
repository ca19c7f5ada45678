"""Options of sampling: tokens are drawn from a model's distribution (see ``search.search``)."""

import math
from typing import Annotated, NamedTuple, TypedDict

from anaphora.errors import ConfigError
from anaphora.options import Option


class Sampling(NamedTuple):
    """Tokens are drawn from the model's distribution and not searched; scores stay those of the model.

    >>> drawn = translator.translate(["The cat sees a very small bird"], sampling=anaphora.Sampling(seed=1))
    >>> len(drawn)
    1
    """

    temperature: Annotated[float, Option("Sampling temperature; below 1 sharpens the distribution.")] = 1.0
    top_k: Annotated[int, Option("Draw from this many most probable tokens; 0 for all.", min=0)] = 0
    """(Fan et al. 2018)"""
    top_p: Annotated[float, Option("Draw from the most probable tokens of this total probability.")] = 1.0
    """After ``top_k`` (Holtzman et al. 2020)."""
    seed: Annotated[int, Option("Random seed.", min=0)] = 0
    """Seed of the draws for a sentence, together with its example id; its place has no influence."""

    def __str__(self) -> str:
        top_k = f", top-k {self.top_k}" if self.top_k else ""
        top_p = f", top-p {self.top_p:g}" if self.top_p < 1 else ""
        return f"sampled at temperature {self.temperature:g}{top_k}{top_p}, seed {self.seed}"

    def check(self) -> None:
        """Raise ConfigError for a number out of its range, or a seed below 0 or of more than 64 bits."""
        if not 0 < self.temperature < math.inf or not 0 <= self.seed < 2**64:
            raise ConfigError(
                f"Sampling needs a finite temperature above 0 and a seed from 0 to 2^64 - 1, but they are "
                f"{self.temperature} and {self.seed}: change them, or use a beam of one for the most probable tokens."
            )
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise ConfigError(
                f"Sampling needs a top-k of at least 0 and a top-p above 0 and at most 1, but they are {self.top_k} "
                f"and {self.top_p}: change them, or leave them out to draw from every token."
            )


class SamplingKeywords(TypedDict, total=False):
    """The fields of ``Sampling`` as keyword arguments."""

    temperature: float
    top_k: int
    top_p: float
    seed: int
