"""Softmaxes that are trained by looking at a few words, and used over all that can be predicted."""

from abc import abstractmethod

import torch
from torch import Tensor, nn

from anaphora.kernels.softmax import softmax_loss
from anaphora.nn.outputs.output import Predictions, SoftmaxOutput
from anaphora.protocols import VocabularyInfo


class EstimatedOutput(SoftmaxOutput):
    """A softmax without ``<pad>`` and ``<s>``, which no text has.

    A softmax that is trained over all words learns that these two never come. Here training hardly ever looks at them,
    so that scores that nobody taught would take their share from the words.
    """

    def __init__(
        self, tied: bool, bias: bool, embedding: nn.Embedding | None, width: int, text: VocabularyInfo
    ) -> None:
        """As for ``WordsOutput``."""
        super().__init__(tied, bias, embedding, width, text.size)
        self._never = [text.pad, text.bos]

    def summed(self, predictions: Predictions) -> Tensor:
        """Return the estimated loss in training, -ln p otherwise."""
        if self.training:
            return self.estimated(predictions)
        states_NH, ids_N, weights_N, _ = predictions
        return softmax_loss(states_NH, self.weight, self.used_bias, ids_N, 0.0, weights_N)

    @abstractmethod
    def estimated(self, predictions: Predictions) -> Tensor:
        """Return the loss that training minimises."""

    @property
    def used_bias(self) -> Tensor:
        """The bias of every word, minus infinity for what is never predicted."""
        bias_V = self.bias if self.bias.numel() else self.weight.new_zeros(len(self.weight))
        return bias_V.index_fill(0, torch.tensor(self._never, device=bias_V.device), -torch.inf)
