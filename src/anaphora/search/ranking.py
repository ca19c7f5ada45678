"""Ranking of finished hypotheses of different lengths."""

from dataclasses import dataclass, replace
from math import inf
from numbers import Real

import numpy as np

from anaphora.errors import ConfigError
from anaphora.protocols import Array
from anaphora.search.hypothesis import Hypothesis

_SEEN = 1e-6
"""The least that a position counts as covered, so that one position never decides alone."""


@dataclass(frozen=True)
class LengthModel:
    """Normal distribution of the tokens T of an output for S tokens of its input (Gale and Church 1993).

    Its mean is ``ratio`` S, its variance ``variance`` S.
    """

    ratio: float
    """Tokens of an output for one of the input."""
    variance: float
    """Variance of T for each token of the input."""

    def log_densities(self, tokens: Array | int, inputs: Array) -> Array:
        """Return ln p(T | S) less its maximum, of lengths T and S that are broadcast."""
        return -((tokens - self.ratio * inputs) ** 2) / (2 * self.variance * inputs)


@dataclass(frozen=True)
class Ranking:
    """Rank of a hypothesis of T tokens, ``</s>`` included: (score + ln p(T)) / lp(T) + coverage_penalty * c.

    By default lp = 1 and p = 1, the plain sum. lp and c are those of Wu et al. (2016), equation 14.
    """

    length_penalty: float = 0.0
    """alpha: lp(T) = ((5 + T) / 6)^alpha."""
    per_token: bool = False
    """lp(T) = T, in place of the length penalty."""
    coverage_penalty: float = 0.0
    """beta: c = sum over source positions of ln min(attention it got in all, 1)."""
    length_model: LengthModel | None = None
    """p; None for 1."""

    def check(self) -> None:
        """Raise ConfigError for a penalty below 0 or not finite, and for a length model of such numbers or of 0."""
        for what, value in (("length", self.length_penalty), ("coverage", self.coverage_penalty)):
            if not (isinstance(value, Real) and 0 <= value < inf):
                raise ConfigError(f"A {what} penalty should be at least 0 and finite, but is {value}: change it.")
        if self.length_model and not (0 < self.length_model.ratio < inf and 0 < self.length_model.variance < inf):
            raise ConfigError(f"Numbers of a length model should be above 0, but it is {self.length_model}: change it.")

    def of(self, scores_BK: Array, tokens: int, inputs_B: Array, uncovered_BK: Array | None = None) -> Array:
        """Return the ranks of hypotheses of so many tokens for inputs of others; ``uncovered_BK`` is the c of each."""
        if self.length_model:
            scores_BK = scores_BK + self.length_model.log_densities(tokens, inputs_B)[:, None]
        ranks_BK = scores_BK / self.norms(tokens)[-1]
        return ranks_BK if uncovered_BK is None else ranks_BK + self.coverage_penalty * uncovered_BK

    def rank(self, hypothesis: Hypothesis, inputs: int) -> Hypothesis:
        """Return the hypothesis of an input of so many tokens with its rank, where there is no coverage penalty."""
        tokens = len(hypothesis.ids) + hypothesis.finished
        rank = self.of(np.array([[hypothesis.score]]), tokens, np.array([inputs])).item()
        return hypothesis if rank == hypothesis.rank else replace(hypothesis, rank=rank)

    def log_lengths(self, inputs_B: Array, tokens: int) -> Array:
        """ln p(T) of 1, 2, .. tokens for each input [B, T]; of no width where it is 0."""
        if self.length_model is None:
            return np.zeros((len(inputs_B), 0))
        return self.length_model.log_densities(np.arange(1, tokens + 1), inputs_B[:, None])

    def norms(self, tokens: int) -> list[float]:
        """lp of 1, 2, .. tokens."""
        found: list[float] = self._norm(np.arange(1, tokens + 1)).tolist()
        return found

    def bound(self, scores_BK: Array, most_B: Array) -> Array:
        """Return the greatest rank that hypotheses can still reach, given the most tokens that each sentence may have.

        Scores, ln p and c are at most 0, scores only fall, and lp grows with T: nothing is above score / lp(most).
        Where all further tokens have a probability of nearly 1, that is nearly reached: no bound of scores is lower.
        """
        return scores_BK / self._norm(most_B)[:, None]

    def _norm(self, tokens: Array) -> Array:
        return tokens.astype(np.float64) if self.per_token else ((5 + tokens) / 6) ** self.length_penalty


def coverage_penalty(coverage_NS: Array, lengths_N: Array) -> Array:
    """c of every row: ``coverage_NS`` is the attention that each position got in all; only ``lengths_N`` exist."""
    logs_NS = np.log(coverage_NS.clip(_SEEN, 1.0))
    logs_NS[np.arange(coverage_NS.shape[1]) >= lengths_N[:, None]] = 0.0
    # one position after the other, so that the padding of a batch changes nothing
    found: Array = logs_NS.cumsum(axis=1)[:, -1]
    return found
