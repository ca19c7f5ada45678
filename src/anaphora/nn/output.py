"""The output layer: from states to the loss of the right words, or to log-probabilities of all words."""

import torch
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.kernels.products import linear
from anaphora.kernels.softmax import softmax_loss
from anaphora.nn.weights import Matrix, Start
from anaphora.protocols import Loss, Sequence


class OutputConfig(Config):
    """A full softmax over the vocabulary."""

    tied: bool = False
    """Whether its matrix is the embedding of the words it predicts (Press and Wolf 2017, Inan et al. 2017)."""
    bias: bool = True
    """Whether every word has a bias."""
    label_smoothing: float = 0.0
    """Share of the target distribution spread evenly over all words while training (Szegedy et al. 2016)."""


class Output(nn.Module):
    """log p = log softmax(W o + b)."""

    def __init__(self, config: OutputConfig, embedding: nn.Embedding | None, width: int, size: int) -> None:
        """``width`` of the states, ``size`` of the vocabulary; ``embedding`` lends its matrix when tied.

        Raises:
            ConfigError: tied, but there is no embedding, or the states are not as wide.
        """
        super().__init__()
        self.config = config
        self.weight = _lent(embedding, width) if config.tied else nn.Parameter(torch.zeros(size, width))
        self.bias = nn.Parameter(torch.zeros(size if config.bias else 0))

    def loss(self, states_TBH: Tensor, targets: Sequence) -> Loss:
        """The summed loss of the targets, weighted by row; padding is left out before anything is computed."""
        ids_TB = targets.ids_BT.T
        open_TB = torch.arange(ids_TB.shape[0]).unsqueeze(1) < targets.lengths_B
        smoothing = self.config.label_smoothing if self.training else 0.0
        rows_NH = states_TBH.flatten(0, 1)
        if not bool(open_TB.all()):
            rows_NH = rows_NH[open_TB.flatten()]
        ids_N = ids_TB[open_TB]
        weights_N = None
        if targets.weights_B is not None:
            weights_N = targets.weights_B.to(rows_NH).expand(ids_TB.shape)[open_TB]
        return Loss(softmax_loss(rows_NH, self.weight, self.bias, ids_N, smoothing, weights_N), len(ids_N))

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """Natural log-probabilities, N x V, each row with the same bits in any batch."""
        logits_NV = linear(states_NH, self.weight)
        return torch.log_softmax(logits_NV + self.bias if self.config.bias else logits_NV, -1)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights that are its own."""
        with torch.no_grad():
            if not self.config.tied:
                start.fill(self.weight, Matrix(*self.weight.shape), generator)
            start.fill(self.bias, Matrix(len(self.bias)), generator)


def _lent(embedding: nn.Embedding | None, width: int) -> Tensor:
    """The matrix of an embedding, for states of ``width``."""
    if embedding is None:
        raise ConfigError(
            "output.tied needs a table of word vectors, but these are composed from characters: set output.tied = "
            "false, or embedding.kind = 'table'."
        )
    if embedding.embedding_dim != width:
        raise ConfigError(
            f"output.tied needs states as wide as the embedding, but they have {width} numbers and an embedding "
            f"{embedding.embedding_dim}: set the decoder's readout (or the recurrence's size) to "
            f"{embedding.embedding_dim}, or output.tied = false."
        )
    return embedding.weight
