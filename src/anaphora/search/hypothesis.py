"""The result of a search for a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from anaphora.errors import demand_number
from anaphora.protocols import Array

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Evidence:
    """Confidence of a model in one output, by forced decoding: see ``search.token_scores``."""

    signals_TE: Floats
    """Rows of every predicted token, ``</s>`` included where it ends in it: ln p; the entropy of the distribution; ln p
    minus that of the best other token; the greatest attention weight, 0 without attention."""
    coverage: float
    """Mean over the source positions of the attention that each got in all, at most 1; 0 without attention."""

    def of_steps(self, steps: Sequence[int]) -> Self:
        """Return the same of some of the tokens."""
        return type(self)(self.signals_TE[list(steps)], self.coverage)


@dataclass(frozen=True)
class Hypothesis:
    """One output of a model, with its log-probability."""

    ids: tuple[int, ...]
    """The tokens, without ``<s>`` and without the ``</s>`` that closes a finished hypothesis."""
    score: float
    """ln p of all tokens by the model, forced ones and the closing ``</s>`` included, summed in float64."""
    weights: Array | None = field(compare=False)
    """float32 [T, S]: the attention of the prediction of each token, ``</s>`` last when it is finished; S
    is the length of the sentence's memory. None for models without attention."""
    finished: bool
    """True if it ends in ``</s>``, and was not cut at its maximum length."""
    rank: float = field(compare=False)
    """Value that ranks the hypotheses of a sentence, see ``search.ranking``; the score where they are not ranked."""
    evidence: Evidence | None = field(default=None, compare=False, repr=False)
    """Confidence of the model in it; None where that was not asked for."""

    def __post_init__(self) -> None:
        demand_number(self.score)

    @classmethod
    def of(cls, tokens: Sequence[int], eos: int, score: float, rank: float, weights: Array | None) -> Self:
        """Return the hypothesis of tokens that may end in ``</s>``; ``weights`` has a row for each of them."""
        finished = tokens[-1] == eos
        return cls(tuple(tokens[:-1] if finished else tokens), score, weights, finished, rank)
