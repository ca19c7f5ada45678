"""The output over all words at once: log p = log softmax(W h + b), where W and h may have a fixed norm."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.softmax import softmax_loss
from anaphora.nn.embedding import Embedding
from anaphora.nn.outputs.output import Predictions, SoftmaxOutput, WordsConfig
from anaphora.options import Conflict
from anaphora.protocols import VocabularyInfo

NO_SOURCE_WORDS = Conflict({"output.lexical": True}, "it sees words of a source, and there are none; leave it out")
"""Conflict of networks that read no text to write another."""


class Full(WordsConfig):
    """A full softmax over the vocabulary."""

    kind: Literal["full"] = "full"
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    """Label smoothing: probability mass spread evenly over all words in training (Szegedy et al. 2016)."""
    fixed_norm: float = Field(0.0, ge=0)
    """Norm that word vectors, those of a tied embedding too, and states are scaled to, such as 5 (Nguyen and Chiang
    2018, section 3); 0 leaves them as they are."""
    lexical: bool = False
    """True if source word vectors, weighted by attention, add to the scores of words (Nguyen and Chiang 2018, section
    4: the lexical model)."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "FullOutput":
        return FullOutput(self, embedding, width, text)


class FullOutput(SoftmaxOutput):
    def __init__(self, config: Full, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> None:
        super().__init__(config.tied, config.bias, embedding, width, text)
        self.lexical = config.lexical
        self._smoothing = config.label_smoothing
        self.norm = FixedNorm(config.fixed_norm, width if config.lexical else 0)
        if config.lexical:
            assert embedding is not None  # see the conflicts of language models
            self.lexical_weight = nn.Parameter(torch.zeros(text.size, embedding.embedding_dim))
        if isinstance(embedding, Embedding) and config.tied:
            embedding.norm = FixedNorm(config.fixed_norm)

    @property
    def used_weight(self) -> Tensor:
        return self.norm.of_table(self.weight, *([self.lexical_weight] if self.lexical else []))

    def sum(self, predictions: Predictions) -> Tensor:
        """Cross-entropy, with smoothed labels in training."""
        states_NH, ids_N, weights_N, *_ = predictions
        smoothing = self._smoothing if self.training else 0.0
        return softmax_loss(self.norm(states_NH), self.used_weight, self.bias, ids_N, smoothing, weights_N)
