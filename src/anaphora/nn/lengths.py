"""Expected length of a translation, from the length of its source alone (Kalchbrenner and Blunsom 2013).

The paper draws the length m of a translation from a Poisson distribution whose mean lambda_k belongs to the length k of
the source; what is expected of it is that mean. It is the mean of the training pairs whose sources have k units, and
one pair more that is as long as all of them would have it, r k with r = (sum of m + 1) / (sum of k + 1), which is as
long as the source where nothing was seen:

    lambda_k = (sum_{pairs of k} m + r k) / (number of them + 1)

So there is an answer for every length, and few pairs count for little.
"""

import torch
from torch import Tensor, nn

from anaphora.kernels import convolution_plan
from anaphora.nn.device import array_of


class Lengths(nn.Module):
    """The lengths of training pairs, kept with the weights; ``</s>`` counts as a unit on both sides."""

    observed: Tensor

    def __init__(self, longest: int) -> None:
        """No pair was seen yet: translations are as long as their sources. Sources up to ``longest`` tokens differ."""
        super().__init__()
        self.register_buffer("observed", torch.zeros(2, longest + 1, dtype=torch.int64))

    @property
    def known(self) -> bool:
        """True if any pair was seen."""
        return bool(self.observed.any())

    def set_lengths(self, sources_N: Tensor, targets_N: Tensor) -> None:
        """Take the lengths of the training pairs; a source that is longer than the longest is left out."""
        sources_N, targets_N = sources_N.to(self.observed.device), targets_N.to(self.observed.device)
        known_N = sources_N < self.observed.shape[1]
        sources_N, targets_N = sources_N[known_N], targets_N[known_N]
        self.observed.zero_()
        self.observed[0].index_add_(0, sources_N, torch.ones_like(sources_N))
        self.observed[1].index_add_(0, sources_N, targets_N)

    def expected_length(self, sources_B: Tensor) -> Tensor:
        """lambda_k of sources of k units, rounded to a whole number of 1 at least."""
        found_B = convolution_plan.expected_length(array_of(sources_B), array_of(self.observed))
        return torch.from_numpy(found_B).to(self.observed.device)
