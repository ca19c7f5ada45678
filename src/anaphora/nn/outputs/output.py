"""The interface of output layers: from states to the loss of the targets, or to log-probabilities of all words.

A new output is one file like ``full.py`` and one name in ``__init__.py``.
"""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from anaphora.batch import NO_SUPERVISION, Ids, Supervision
from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.linear import linear
from anaphora.kernels.log_probs import Attended, OutputLayer
from anaphora.kernels.search_step import Scores
from anaphora.kernels.softmax import log_softmax, picked_log_softmax, softmax_loss
from anaphora.nn.device import array_of
from anaphora.nn.outputs.candidates import CandidateOutput
from anaphora.nn.weights import Matrix, Start
from anaphora.protocols import Array, Loss, VocabularyInfo


class OutputConfig(Config):
    """One kind of output layer: its options."""

    kind: str
    """The kind's name."""

    @abstractmethod
    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "Output":
        """Return the layer over states of ``width`` and a vocabulary; a tied one borrows from an ``embedding``.

        Raises ConfigError where the options do not go with the sizes.
        """


class Predictions(NamedTuple):
    """The states and the ids to predict from them, without padding."""

    states_NH: Tensor
    ids_N: Tensor
    weights_N: Tensor | None
    """Factor of the loss of each; None for 1."""
    partition_C: Tensor | None
    """The target ids of the partition of the corpus; None where it is not partitioned."""
    attended: Attended | None = None
    """Source of each, for outputs that copy from it."""


class Output(nn.Module, OutputLayer):
    tied = False
    """True if ``weight`` is that of an embedding."""
    partition: int = 0
    """Maximum number of distinct target ids of a partition, for outputs trained by partitions; 0 for others."""

    def loss(
        self,
        states_TBH: Tensor,
        targets: Ids,
        supervision: Supervision = NO_SUPERVISION,
        attended: Attended | None = None,
    ) -> Loss:
        """Return the summed loss of the targets, weighted by row; padding is left out before anything is computed.

        In evaluation it is -ln p of the targets. Training may minimise an objective that is cheaper. ``attended`` is of
        T x B rows, for outputs that copy.
        """
        ids_TB = targets.ids_BT.T
        open_TB = torch.arange(ids_TB.shape[0]).unsqueeze(1) < targets.lengths_B

        def rows(block_TBX: Tensor) -> Tensor:
            rows_NX = block_TBX.flatten(0, 1)
            return rows_NX if bool(open_TB.all()) else rows_NX[open_TB.flatten()]

        ids_N = ids_TB[open_TB]
        weights_N = supervision.weights_of(open_TB, states_TBH)
        source = Attended(*map(rows, attended)) if attended else None
        found = Predictions(rows(states_TBH), ids_N, weights_N, supervision.partition_C, source)
        return Loss(self.sum(found), len(ids_N))

    @abstractmethod
    def sum(self, predictions: Predictions) -> Tensor:
        """Return the loss of all predictions."""

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights that are its own: all but the matrix of a tied layer."""
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if not (self.tied and name == "weight"):
                    start.fill(weight, Matrix(*weight.shape), generator)


class WordsConfig(OutputConfig):
    """An output layer with a row of its matrix for every word."""

    tied: bool = False
    """True if its matrix is the embedding of the words it predicts (Press and Wolf 2017, Inan et al. 2017)."""
    bias: bool = True
    """True if every word has a bias."""


class WordsOutput(Output):
    """z = W h + b: one score for every word."""

    norm = FixedNorm()
    """Norm of the rows of W, and of h."""

    def __init__(
        self, tied: bool, bias: bool, embedding: nn.Embedding | None, width: int, text: VocabularyInfo
    ) -> None:
        """``width`` of the states, ``text`` the vocabulary; ``embedding`` lends its matrix when tied.

        Raises ConfigError where tied, but there is no embedding, or the states are not as wide.
        """
        super().__init__()
        self.tied, self.size, self.text = tied, text.size, text
        self.weight = _lent(embedding, width) if tied else nn.Parameter(torch.zeros(self.size, width))
        self.bias = nn.Parameter(torch.zeros(self.size if bias else 0))

    @property
    def used_weight(self) -> Tensor:
        """The matrix that probabilities are computed with."""
        return self.norm.of_table(self.weight)

    @property
    def used_bias(self) -> Tensor:
        """The bias that probabilities are computed with; of no elements for none."""
        return self.bias

    def logits(self, states_NH: Tensor) -> Tensor:
        """z of all words, N x V, each row with the same bits in any batch."""
        return affine(self.norm(states_NH), self.used_weight, self.used_bias)


class SoftmaxOutput(WordsOutput):
    """One softmax over all words, at least when it is used."""

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """log softmax(z)."""
        return log_softmax(self.logits(states_NH))

    def picked_log_probs(self, states_RH: Tensor, rows_E: Array, ids_E: Array) -> Tensor:
        return picked_log_softmax(linear(self.norm(states_RH), self.used_weight), self.used_bias, rows_E, ids_E)

    def shortlist(self, candidates: Ids) -> CandidateOutput:
        return CandidateOutput.of(candidates, self.used_weight, self.used_bias, self.norm)

    def scores(self) -> Scores:
        return Scores(self.used_weight, array_of(self.used_bias), norm=self.norm)


class EstimatedOutput(SoftmaxOutput):
    """A softmax without ``<pad>`` and ``<s>``, which no text has.

    A softmax that is trained over all words learns that these two never come. Here training hardly ever looks at them,
    so that scores that were never trained would take their share from the words.
    """

    def sum(self, predictions: Predictions) -> Tensor:
        """Return the estimated loss in training, -ln p otherwise."""
        if self.training:
            return self.estimate(predictions)
        states_NH, ids_N, weights_N, *_ = predictions
        return softmax_loss(states_NH, self.weight, self.used_bias, ids_N, 0.0, weights_N)

    @abstractmethod
    def estimate(self, predictions: Predictions) -> Tensor:
        """Return the loss that training minimises."""

    @property
    def used_bias(self) -> Tensor:
        """The bias of every word, minus infinity for what is never predicted."""
        bias_V = self.bias if self.bias.numel() else self.weight.new_zeros(len(self.weight))
        return bias_V.index_fill(0, torch.tensor(self.text.unwritten, device=bias_V.device), -torch.inf)


def affine(states_NH: Tensor, weight_VH: Tensor, bias_V: Tensor) -> Tensor:
    """W h + b for every row, each with the same bits in any batch; b may have no elements."""
    logits_NV = linear(states_NH, weight_VH)
    return logits_NV.add_(bias_V) if bias_V.numel() else logits_NV


def _lent(embedding: nn.Embedding | None, width: int) -> Tensor:
    assert embedding is not None  # see ``LanguageModelConfig``
    if embedding.embedding_dim != width:
        raise ConfigError(
            f"output.tied needs states as wide as the embedding, but they have {width} numbers and an embedding "
            f"{embedding.embedding_dim}: set the decoder's readout (or the size of the recurrence or of the window) to "
            f"{embedding.embedding_dim}, or output.tied = false."
        )
    return embedding.weight
