"""The output that generates a word or copies one of the source: see ``kernels/outputs/pointer_generator.py``."""

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from anaphora.kernels.log_probs import Attended, with_copies
from anaphora.kernels.outputs.pointer_generator import pointer_generator_loss
from anaphora.kernels.softmax import log_softmax, target_log_probs
from anaphora.nn.device import array_of
from anaphora.nn.outputs.output import Predictions, WordsConfig, WordsOutput
from anaphora.protocols import VocabularyInfo


class PointerGenerator(WordsConfig):
    """A full softmax over the vocabulary, mixed with the attention on the words of the source (See et al. 2017)."""

    kind: Literal["pointer-generator"] = "pointer-generator"

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "PointerGeneratorOutput":
        return PointerGeneratorOutput(self.tied, self.bias, embedding, width, text)


class PointerGeneratorOutput(WordsOutput):
    copies: ClassVar[bool] = True

    def sum(self, predictions: Predictions) -> Tensor:
        """-ln p of the mixture."""
        states_NH, ids_N, weights_N, _, attended = predictions
        assert attended
        log_probs_N = target_log_probs(states_NH, self.weight, self.bias, ids_N)
        return pointer_generator_loss(log_probs_N, attended, ids_N, weights_N)

    def log_probs(self, states_NH: Tensor, attended: Attended | None = None) -> Tensor:
        """ln p of the mixture, which is made on the CPU."""
        assert attended
        log_probs_NV = array_of(log_softmax(self.logits(states_NH)))
        return torch.from_numpy(with_copies(log_probs_NV, attended)).to(states_NH.device)
