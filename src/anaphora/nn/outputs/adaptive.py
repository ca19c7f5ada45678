"""The output that spends its numbers on frequent words (Grave et al. 2017)."""

from itertools import pairwise
from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from anaphora.errors import ConfigError
from anaphora.kernels.linear import linear
from anaphora.kernels.outputs.adaptive import adaptive_log_probs, adaptive_loss
from anaphora.nn.counts import Counts, ranks
from anaphora.nn.outputs.output import Output, OutputConfig, Predictions, affine
from anaphora.nn.weights import Matrix, Weights, projection_matrices
from anaphora.protocols import VocabularyInfo


class Adaptive(OutputConfig):
    """A softmax over frequent words and clusters of rarer ones, each cluster narrower than the one before."""

    kind: Literal["adaptive"] = "adaptive"
    cutoffs: tuple[int, ...] = ()
    """The rank, counted from 0 for the most frequent word, with which each cluster of rarer words begins; without
    any, a tenth and a half of the vocabulary."""
    factor: float = Field(4.0, ge=1)
    """Cluster i = 1, 2, .. sees the state through a projection to its width over this to the power of i."""
    bias: bool = True
    """True if every word and every cluster has a bias."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "AdaptiveOutput":
        """Return the layer; its matrices are narrower than an embedding, so there is nothing to tie."""
        size = text.size
        cutoffs = self.cutoffs or (max(1, size // 10), max(2, size // 2))
        if any(low >= high for low, high in pairwise((0, *cutoffs, size))):
            raise ConfigError(f"output.cutoffs should ascend between 0 and {size} words, but are {list(cutoffs)}.")
        return AdaptiveOutput(self, (*cutoffs, size), width)


class AdaptiveOutput(Output):
    """A head over the most frequent words and the clusters, and a tail for each cluster; rows are words by rank."""

    def __init__(self, config: Adaptive, cutoffs: tuple[int, ...], width: int) -> None:
        """``cutoffs`` end with the size of the vocabulary; ``width`` of the states."""
        super().__init__()
        self._cutoffs, self.tails, self.size = cutoffs, len(cutoffs) - 1, cutoffs[-1]
        matrices = projection_matrices("head", cutoffs[0] + self.tails, width, config.bias)
        for tail, (low, high) in enumerate(pairwise(cutoffs)):
            narrow = max(1, int(width / config.factor ** (tail + 1)))
            matrices[f"tail{tail}.project"] = Matrix(narrow, width)
            matrices |= projection_matrices(f"tail{tail}", high - low, narrow, config.bias)
        self.weights = Weights(matrices)
        self.counts = Counts(cutoffs[-1])

    @property
    def ranks(self) -> Tensor:
        return self.counts.derive(ranks)

    def sum(self, predictions: Predictions) -> Tensor:
        states_NH, ids_N, weights_N, *_ = predictions
        return adaptive_loss(states_NH, self._head(), self._each_tail(), self.ranks[ids_N], self._cutoffs, weights_N)

    def log_probs(self, states_NH: Tensor) -> Tensor:
        tails = tuple(affine(linear(states_NH, P), B, b) for P, B, b in self._each_tail())
        return adaptive_log_probs(affine(states_NH, *self._head()), tails)[:, self.ranks]

    def _head(self) -> tuple[Tensor, Tensor]:
        weights = self.weights.tensors()
        matrix = weights["head.weight"]
        return matrix, weights.get("head.bias", matrix.new_empty(0))

    def _each_tail(self) -> tuple[tuple[Tensor, Tensor, Tensor], ...]:
        weights = self.weights.tensors()
        none = weights["head.weight"].new_empty(0)
        return tuple(
            (weights[f"tail{n}.project"], weights[f"tail{n}.weight"], weights.get(f"tail{n}.bias", none))
            for n in range(self.tails)
        )
