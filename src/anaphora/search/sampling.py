"""Sampling from a model's distribution.

A token is drawn by inversion: the first whose probability, with those of all tokens before it, exceeds a number drawn
from 0 to 1. That number is a function of (seed, example id, step), from a counter-based generator (Philox: Salmon et
al. 2011), so the sample of a sentence does not depend on the other sentences of the batch.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from anaphora.errors import ConfigError


class Sampling(NamedTuple):
    """Tokens are drawn from the model's distribution and not searched; scores stay those of the model."""

    temperature: float = 1.0
    """Divisor of the log-probabilities."""
    top_k: int = 0
    """Number of the most probable tokens to draw from (Fan et al. 2018); 0 for all."""
    top_p: float = 1.0
    """Draw from the most probable tokens with this total probability (Holtzman et al. 2020), after ``top_k``."""
    seed: int = 0
    """Random seed. What is drawn for a sentence depends on the seed and on its example id, not on its place."""

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

    def draw(self, step: int, example_ids: Sequence[int], log_probs_BV: Tensor) -> Tensor:
        """Return a token for each sentence, of a batch whose example ids are given."""
        shares = [[_uniform(self.seed, example_id, step)] for example_id in example_ids]
        # a GPU adds up in any order
        scores_BV = likeliest(log_probs_BV.cpu().double() / self.temperature, self.top_k, self.top_p)
        sums_BV = torch.softmax(scores_BV, dim=1).cumsum(dim=1)
        share_B1 = torch.tensor(shares, dtype=torch.float64) * sums_BV[:, -1:]
        return (sums_BV <= share_B1).sum(dim=1).to(log_probs_BV.device)  # 0 where nothing is possible


def likeliest(scores_BV: Tensor, top_k: int, top_p: float) -> Tensor:
    """The scores to sample from, minus infinity for excluded tokens; of equally likely tokens the lower id is kept."""
    if (top_k == 0 or top_k >= scores_BV.shape[1]) and top_p == 1:
        return scores_BV
    sorted_BV, order_BV = scores_BV.sort(dim=1, descending=True, stable=True)
    if top_k:
        sorted_BV[:, top_k:] = -torch.inf
    p_BV = torch.softmax(sorted_BV, 1)
    # kept while the tokens before have less than top_p together; so the likeliest always is
    kept_BV = (p_BV.cumsum(1) - p_BV < top_p) & (sorted_BV > -torch.inf)
    return torch.full_like(scores_BV, -torch.inf).scatter(1, order_BV, sorted_BV.where(kept_BV, -torch.inf))


def _uniform(seed: int, example_id: int, step: int) -> float:
    """A number from 0 to below 1; it never changes for the same three numbers."""
    source = np.random.Philox(key=np.array([seed, example_id], np.uint64), counter=np.array([0, 0, 0, step], np.uint64))
    return np.random.Generator(source).random()
