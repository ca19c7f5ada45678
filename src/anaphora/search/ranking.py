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
class Ranking:
    """Rank of a hypothesis of T tokens, ``</s>`` included: score / lp(T) + coverage_penalty * c.

    By default lp = 1, the plain sum. The terms are those of Wu et al. (2016), equation 14.
    """

    length_penalty: float = 0.0
    """alpha: lp(T) = ((5 + T) / 6)^alpha."""
    per_token: bool = False
    """lp(T) = T, in place of the length penalty."""
    coverage_penalty: float = 0.0
    """beta: c = sum over source positions of ln min(attention it got in all, 1)."""

    def check(self) -> None:
        """Raise ConfigError for a penalty that is negative or not finite."""
        for what, value in (("length", self.length_penalty), ("coverage", self.coverage_penalty)):
            if not (isinstance(value, Real) and 0 <= value < inf):
                raise ConfigError(f"A {what} penalty should be at least 0 and finite, but is {value}: change it.")

    def of(self, scores_BK: Array, tokens: int, uncovered_BK: Array | None = None) -> Array:
        """Return the ranks of hypotheses of so many tokens; ``uncovered_BK`` is the c of each."""
        ranks_BK = scores_BK / self.norms(tokens)[-1]
        return ranks_BK if uncovered_BK is None else ranks_BK + self.coverage_penalty * uncovered_BK

    def rank(self, hypothesis: Hypothesis) -> Hypothesis:
        """Return the hypothesis with its rank, where there is no coverage penalty."""
        tokens = len(hypothesis.ids) + hypothesis.finished
        rank = hypothesis.score / self.norms(tokens)[-1]
        return hypothesis if rank == hypothesis.rank else replace(hypothesis, rank=rank)

    def norms(self, tokens: int) -> list[float]:
        """lp of 1, 2, .. tokens."""
        found: list[float] = self._norm(np.arange(1, tokens + 1)).tolist()
        return found

    def bound(self, scores_BK: Array, most_B: Array) -> Array:
        """Return the greatest rank that hypotheses can still reach, given the most tokens that each sentence may have.

        Scores and c are at most 0, scores only fall, and lp grows with the length: nothing is above score / lp(most).
        Where all further tokens have a probability of nearly 1, that is nearly reached: no bound of scores is lower.
        """
        return scores_BK / self._norm(most_B)[:, None]

    def _norm(self, tokens: Array) -> Array:
        found: Array = tokens.astype(np.float64) if self.per_token else ((5 + tokens) / 6) ** self.length_penalty
        return found


def coverage_penalty(coverage_NS: Array, lengths_N: Array) -> Array:
    """c of every row: ``coverage_NS`` is the attention that each position got in all; only ``lengths_N`` exist."""
    logs_NS = np.log(coverage_NS.clip(_SEEN, 1.0))
    logs_NS[np.arange(coverage_NS.shape[1]) >= lengths_N[:, None]] = 0.0
    # one position after the other, so that the padding of a batch changes nothing
    found: Array = logs_NS.cumsum(axis=1)[:, -1]
    return found
