"""Deep fusion: what a language model of the target makes of the words so far enters the readout (``readout.py``).

    g_t = sigm(v' s_t + b)
    o_t = tanh(.. + W_s g_t s_t)            or maxout, as without it                   Gulcehre et al. 2015, section 4.2

s_t is the state of a language model that has read the same words as the decoder, y_1 .. y_{t-1}. Both were trained by
themselves; from then on the output layer, the readout and the gate alone are tuned, and all else is frozen.
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from anaphora.config import ByKind, Config
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.stack import Stack, StackConfig
from anaphora.protocols import VocabularyInfo


class FrozenLanguageModelConfig(Config):
    """A language model without its output."""

    reads: Literal["stream", "sentences"] = "stream"
    """True if it was trained on sentences that begin with ``<s>``, false for running text."""
    embedding: EmbeddingConfig = EmbeddingConfig()
    """Word vectors of the language model."""
    recurrence: StackConfig = StackConfig()
    """Recurrent layers of the language model."""


class NoFusion(Config):
    """A translator by itself."""

    kind: Literal["none"] = "none"


class DeepFusion(Config):
    """The states of a language model enter the readout."""

    kind: Literal["deep"] = "deep"
    run: str
    """The run folder of the language model; once its weights are taken over, it is needed no more."""
    gate_bias: float = -1.0
    """Initial bias of the gate: -1 lets about a quarter of a state through."""
    model: FrozenLanguageModelConfig = FrozenLanguageModelConfig()
    """Options of that language model; filled in when its weights are taken over."""


AnyFusion = ByKind[NoFusion | DeepFusion]
"""The ``[fusion]`` table."""


class FrozenLanguageModel(nn.Module):
    """A language model that reads and is never trained; its weights come from its run."""

    def __init__(self, config: FrozenLanguageModelConfig, text: VocabularyInfo) -> None:
        """The layers with all weights 0."""
        super().__init__()
        self.begin = text.bos if config.reads == "sentences" else text.eos
        """Its id for the begin of a sentence."""
        self._bos = text.bos
        self.embedding = Embedding(config.embedding, text.size, "language_model")
        self.recurrence = Stack(config.recurrence, config.embedding.size, "language_model")

    def train(self, mode: bool = True) -> "FrozenLanguageModel":
        """Stay in evaluation, so that nothing is dropped."""
        return super().train(False)

    @torch.no_grad()
    def forward(self, ids_TB: Tensor, lengths_B: Tensor) -> Tensor:
        """Return its states after every word of whole sentences that begin with ``<s>``: T x B x width."""
        states_TBL: Tensor = self.recurrence(self._vectors(ids_TB), lengths_B).outputs["h"]
        return states_TBL

    @torch.no_grad()
    def advance(self, ids_N: Tensor, state: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return its top state after one more word of every row, N x width, and all that it carries on."""
        return self.recurrence.advance(self._vectors(ids_N).unsqueeze(0), state)

    def _vectors(self, ids: Tensor) -> Tensor:
        return self.embedding.vectors(ids.masked_fill(ids == self._bos, self.begin))
