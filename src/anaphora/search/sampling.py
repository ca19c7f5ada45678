"""Sampling from a model's distribution.

A token is drawn by inversion: the first whose probability, with those of all tokens before it, exceeds a number drawn
from 0 to 1. That number is a function of (seed, example id, step), from a counter-based generator (Philox: Salmon et
al. 2011), so the sample of a sentence does not depend on the other sentences of the batch.
"""

import math
from collections import abc

import numpy as np
import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.protocols import Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Steering
from anaphora.search.writing import OnToken, ignore_token, write


def check_sampling(temperature: float, top_k: int, top_p: float, seed: int) -> None:
    """Raise ConfigError for values that ``sample`` refuses."""
    if not 0 < temperature < math.inf or not 0 <= seed < 2**64:
        raise ConfigError(
            f"Sampling needs a finite temperature above 0 and a seed from 0 to 2^64 - 1, but they are {temperature} "
            f"and {seed}: change them, or use a beam of one for the most probable tokens."
        )
    if top_k < 0 or not 0 < top_p <= 1:
        raise ConfigError(
            f"Sampling needs a top-k of at least 0 and a top-p above 0 and at most 1, but they are {top_k} and "
            f"{top_p}: change them, or leave them out to draw from every token."
        )


def sample(
    stepper: Stepper,
    batch: Batch,
    *,
    max_length: int | abc.Sequence[int],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    on_token: OnToken = ignore_token,
    lines: int | None = 1,
    steering: abc.Sequence[Steering] = (),
) -> list[Hypothesis]:
    """One sample a sentence, beginning with the prefix that ``batch.constraints`` gives it.

    Args:
        stepper: the model.
        batch: the inputs, and the prefixes.
        max_length: as for ``beam``.
        temperature: divisor of the log-probabilities before sampling.
        top_k: number of the most probable tokens to sample from (Fan et al. 2018); 0 for all.
        top_p: sample from the most probable tokens with this total probability (Holtzman et al. 2020), after ``top_k``.
        seed: random seed.
        on_token: called with (example id, token) for every token as it is drawn, except for forced ones.
        lines: number of the ``</s>`` that ends a sentence; None for none, where running text goes on after it.
        steering: as for ``beam``; tokens are drawn from what it leaves.

    Scores are those of the model itself, at temperature 1 and over all tokens. Raises ConfigError for a temperature
    that is not above 0 and finite, a seed below 0 or of more than 64 bits, a negative ``top_k``, a ``top_p`` not within
    0 and 1, or a length below 1.
    """
    check_sampling(temperature, top_k, top_p, seed)
    example_ids = batch.example_ids_B.tolist()

    def draw(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> Tensor:
        shares = [[_uniform(seed, example_ids[b], step)] for b in sentences_B.tolist()]
        scores_BV = likeliest(log_probs_BV.cpu().double() / temperature, top_k, top_p)  # a GPU adds up in any order
        sums_BV = torch.softmax(scores_BV, dim=1).cumsum(dim=1)
        share_B1 = torch.tensor(shares, dtype=torch.float64) * sums_BV[:, -1:]
        return (sums_BV <= share_B1).sum(dim=1).to(log_probs_BV.device)  # 0 where nothing is possible

    start = stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, max_length, len(start.memory_lengths_B))
    return write(stepper, batch, start, bounds, draw, on_token, lines, steering)


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
