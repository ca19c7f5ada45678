"""The output over all words at once: log p = log softmax(W h + b)."""

from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from anaphora.kernels.softmax import softmax_loss
from anaphora.nn.outputs.output import Predictions, SoftmaxOutput, WordsConfig
from anaphora.protocols import VocabularyInfo


class Full(WordsConfig):
    """A full softmax over the vocabulary."""

    kind: Literal["full"] = "full"
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    """Label smoothing: probability mass spread evenly over all words in training (Szegedy et al. 2016)."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "FullOutput":
        return FullOutput(self, embedding, width, text)


class FullOutput(SoftmaxOutput):
    def __init__(self, config: Full, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> None:
        super().__init__(config.tied, config.bias, embedding, width, text)
        self._smoothing = config.label_smoothing

    def sum(self, predictions: Predictions) -> Tensor:
        """Cross-entropy, with smoothed labels in training."""
        states_NH, ids_N, weights_N, *_ = predictions
        smoothing = self._smoothing if self.training else 0.0
        return softmax_loss(states_NH, self.weight, self.bias, ids_N, smoothing, weights_N)
