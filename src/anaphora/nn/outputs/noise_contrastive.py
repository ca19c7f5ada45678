"""The output that learns to tell words from noise (Mnih and Teh 2012), and is normalised when it is used."""

import math
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.kernels.outputs.noise_contrastive import noise_contrastive_loss
from anaphora.nn.counts import Counts
from anaphora.nn.outputs.output import EstimatedOutput, OutputConfig, Predictions
from anaphora.nn.randomness import uniform_draws
from anaphora.nn.weights import Start
from anaphora.options import MAX_COUNT
from anaphora.protocols import VocabularyInfo


class NoiseContrastive(OutputConfig):
    """A softmax that is trained by noise-contrastive estimation, its normaliser fixed to 1."""

    kind: Literal["nce"] = "nce"
    tied: bool = False
    """True if its matrix is the embedding of the words it predicts (Press and Wolf 2017, Inan et al. 2017)."""
    noise_samples: int = Field(1000, ge=1, le=MAX_COUNT)
    """k: noise words per update, drawn by their frequency."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "NoiseContrastiveOutput":
        return NoiseContrastiveOutput(self, embedding, width, text)


class NoiseContrastiveOutput(EstimatedOutput):
    """Scores that are taken for log-probabilities in training, and normalised otherwise."""

    def __init__(
        self, config: NoiseContrastive, embedding: nn.Embedding | None, width: int, text: VocabularyInfo
    ) -> None:
        """As for ``WordsOutput``; there is always a bias, which the normaliser starts from."""
        super().__init__(config.tied, True, embedding, width, text)
        self._noise = config.noise_samples
        self.counts = Counts(text.size)

    def estimate(self, predictions: Predictions) -> Tensor:
        states_NH, ids_N, weights_N, *_ = predictions
        cumulative_V, log_noise_V = self.counts.derive(self._chances)
        draws = uniform_draws("output.nce", self._noise, cumulative_V.device)
        drawn = torch.searchsorted(cumulative_V, draws, right=True)
        words_C, times_C = torch.unique(drawn, return_counts=True)
        like = states_NH.dtype
        return noise_contrastive_loss(
            states_NH, self.weight, self.bias, ids_N, words_C, times_C.to(like), log_noise_V.to(like), weights_N
        )

    def _chances(self, counts_V: Tensor) -> tuple[Tensor, Tensor]:
        """Cumulated chances, up to but for the last, and ln(k q)."""
        q_V = counts_V.double() / counts_V.sum()
        return q_V.cumsum(0)[:-1], torch.log(self._noise * q_V)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights that are its own; the bias starts from -ln V, so that exp(z) sums to about 1 from there."""
        super().initialise(start, generator)
        with torch.no_grad():
            self.bias.sub_(math.log(len(self.bias)))
