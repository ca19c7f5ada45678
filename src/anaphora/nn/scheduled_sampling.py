"""Scheduled sampling (Bengio et al. 2015): in training, a decoder reads words of its own in the place of true ones.

At update i every word that is read is the true one with a probability of e_i, which falls as training goes:

    "linear"            e_i = max(least, 1 - i / updates)
    "exponential"       e_i = k^i                           k < 1
    "inverse-sigmoid"   e_i = k / (k + exp(i / k))          k >= 1

A word of the decoder comes from the distribution that the decoder has after the words before it, true and own. So these
words are found first, step by step, as in a search (and as there without dropout in the decoder); then the decoder
reads the mixture with all that can be hoisted out of the loop. No gradient goes through the choice of a word.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import ByKind, Config


class NoSampling(Config):
    """True words alone."""

    kind: Literal["none"] = "none"


class Sampling(Config):
    """Options of all schedules."""

    draw: Literal["sample", "argmax"] = "sample"
    """Choice of the decoder's own word: sampled from its prediction, or the most probable one."""

    @abstractmethod
    def chance(self, update: int) -> float:
        """Return the probability that a word read at ``update`` (from 1) is the true one."""


class LinearSampling(Sampling):
    """The chance falls in a straight line."""

    kind: Literal["linear"]
    updates: int = Field(10_000, ge=1)
    """Updates after which the chance would be 0."""
    min_probability: float = Field(0.5, ge=0, le=1)
    """The chance never falls below this."""

    def chance(self, update: int) -> float:
        """max(least, 1 - i / updates)."""
        return max(self.min_probability, 1 - update / self.updates)


class ExponentialSampling(Sampling):
    """The chance falls by the same share with every update."""

    kind: Literal["exponential"]
    k: float = Field(0.9999, gt=0, lt=1)
    """Factor of the probability after an update."""

    def chance(self, update: int) -> float:
        """k^i."""
        return float(self.k**update)


class InverseSigmoidSampling(Sampling):
    """The chance stays near 1, falls, and stays near 0."""

    kind: Literal["inverse-sigmoid"]
    k: float = Field(1000.0, ge=1)
    """Lateness and slowness of the decay: the probability is a half after k ln k updates."""

    def chance(self, update: int) -> float:
        """k / (k + exp(i / k))."""
        return 1 / (1 + math.exp(min(update / self.k - math.log(self.k), 700)))


AnySampling = ByKind[NoSampling | LinearSampling | ExponentialSampling | InverseSigmoidSampling]
"""Scheduled sampling as a recipe names it: ``"none"``, or ``{kind = "linear", updates = 5000}``."""


def mix_words(
    true_TB: Tensor, advance: Callable[[Tensor], Tensor], kept_TB: Tensor, shares_TB: Tensor | None = None
) -> Tensor:
    """Words to read, T x B: those that are ``kept_TB`` and the first of each sentence as they are, the others its own.

    ``advance`` reads one word of every sentence and gives the log-probabilities of the next, B x V. An own word is
    where a number of ``shares_TB``, drawn evenly from 0 to 1, falls among the probabilities; else the most probable.
    """
    read = [true_TB[0]]
    for t in range(1, len(true_TB)):
        log_probs_BV = advance(read[-1])
        if shares_TB is None:
            own_B = log_probs_BV.argmax(-1)
        else:
            heaped_BV = log_probs_BV.double().exp().cumsum(-1)
            own_B = (heaped_BV < shares_TB[t].unsqueeze(1) * heaped_BV[:, -1:]).sum(-1)
        read.append(torch.where(kept_TB[t], true_TB[t], own_B))
    return torch.stack(read)
