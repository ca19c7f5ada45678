"""The output that is trained on a few words that stand for all, and is a full softmax when it is used."""

import math
from abc import abstractmethod
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.config import ByKind, Config
from anaphora.kernels.outputs.sampled import sampled_softmax_loss
from anaphora.nn.counts import Counts, ranks
from anaphora.nn.outputs.output import EstimatedOutput, Predictions, WordsConfig
from anaphora.nn.randomness import uniform_draws
from anaphora.options import MAX_COUNT
from anaphora.protocols import VocabularyInfo


class DrawnWords(Config):
    """Words drawn again for every update, for all of its predictions."""

    words: int = Field(1000, ge=1, le=MAX_COUNT)
    """Number of drawn words; one that is drawn twice counts once."""

    @abstractmethod
    def chances(self, counts_V: Tensor) -> Tensor:
        """Return the probability of every word in one draw, float64."""


class LogUniform(DrawnWords):
    """Words by rank alone: rank r = 0, 1, .. has ln((r + 2) / (r + 1)) / ln(V + 1), near to what texts have."""

    kind: Literal["log-uniform"] = "log-uniform"

    def chances(self, counts_V: Tensor) -> Tensor:
        ranks_V = ranks(counts_V).double()
        return torch.log1p(1 / (ranks_V + 1)) / math.log(len(ranks_V) + 1)


class Unigram(DrawnWords):
    """Words as often as they are in the training text."""

    kind: Literal["unigram"] = "unigram"

    def chances(self, counts_V: Tensor) -> Tensor:
        return counts_V.double() / counts_V.sum()


class Partition(Config):
    """The target words of a stretch of the corpus for all batches in it (Jean et al. 2015, section 3.2)."""

    kind: Literal["partition"] = "partition"
    words: int = Field(5000, ge=1, le=MAX_COUNT)
    """tau: a stretch ends before the batch with which it would have more different target words than this."""


class Sampled(WordsConfig):
    """A softmax that is trained over a sample of the vocabulary (Bengio and Senecal 2008; Jean et al. 2015)."""

    kind: Literal["sampled"] = "sampled"
    proposal: ByKind[LogUniform | Unigram | Partition] = LogUniform()
    """Distribution that negative samples are drawn from."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "SampledOutput":
        return SampledOutput(self, embedding, width, text)


class SampledOutput(EstimatedOutput):
    """A softmax over a sample in training, over all words otherwise."""

    def __init__(self, config: Sampled, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> None:
        super().__init__(config.tied, config.bias, embedding, width, text)
        self._proposal = config.proposal
        if isinstance(self._proposal, Partition):
            self.partition = self._proposal.words
        else:
            self.counts = Counts(text.size)

    def estimate(self, predictions: Predictions) -> Tensor:
        """Return the loss over the sample."""
        states_NH, ids_N, weights_N, partition_C, _ = predictions
        words_C, log_drawn_V = self._sample(partition_C)
        return sampled_softmax_loss(
            states_NH, self.weight, self.bias, ids_N, words_C, log_drawn_V.to(states_NH.dtype), weights_N
        )

    def _sample(self, partition_C: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the words that targets are compared with, and ln of the probability that each is among them."""
        if isinstance(self._proposal, Partition):
            if partition_C is None:
                raise ValueError("an output trained by partitions needs their words: see data.partitions.Partitions.")
            return partition_C, torch.empty(0)
        cumulative_V, log_drawn_V = self.counts.derive(self._chances)
        drawn = uniform_draws("output.sampled", self._proposal.words, cumulative_V.device)
        return torch.unique(torch.searchsorted(cumulative_V, drawn, right=True)), log_drawn_V

    def _chances(self, counts_V: Tensor) -> tuple[Tensor, Tensor]:
        """Cumulated chances, up to but for the last, and ln(1 - (1 - q)^k)."""
        assert not isinstance(self._proposal, Partition)
        q_V = self._proposal.chances(counts_V)
        return q_V.cumsum(0)[:-1], torch.log(-torch.expm1(self._proposal.words * torch.log1p(-q_V)))
