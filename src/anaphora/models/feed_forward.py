"""Feed-forward language models: a prediction depends on the last few tokens alone (a fixed context).

They read running text as the recurrent models do, with ``</s>`` between lines. Their state is the ids of the context,
which is ``</s>`` throughout before a text.
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.config import Config
from anaphora.models.language_model import TextNetwork
from anaphora.models.searches import TensorTextStepper
from anaphora.nn.device import device_of
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.outputs import AnyOutput
from anaphora.nn.outputs.full import NO_SOURCE_WORDS, Full
from anaphora.nn.weights import AnyStart, Orthogonal, demand_carry
from anaphora.nn.windows import AnyWindow, Feedforward, WindowBody
from anaphora.options import Conflict
from anaphora.protocols import Carry, Loss, VocabularyInfo


class FeedForwardLanguageModelConfig(Config):
    """The tables of a feed-forward language model."""

    embedding: EmbeddingConfig = EmbeddingConfig()
    """Word vectors."""
    network: AnyWindow = Feedforward()
    """Network over the fixed context."""
    output: AnyOutput = Full()
    """Output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (NO_SOURCE_WORDS,)


class FeedForwardLanguageModel(TextNetwork):
    """An embedding, a body that reads a few tokens at a time, and an output layer."""

    config: FeedForwardLanguageModelConfig

    def __init__(self, config: FeedForwardLanguageModelConfig, text: VocabularyInfo) -> None:
        """The network with all weights 0.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        self.config, self.symbols = config, text
        self.embedding = Embedding(config.embedding, text.size, "text")
        self.window = WindowBody(config.network, config.embedding.size)
        self.output = config.output.build(self.embedding, self.window.width, text)
        self.earlier = config.network.steps - 1
        """Number of tokens of the context before the last one."""

    def initial_state(self, rows: int) -> dict[str, Tensor]:
        """Return the ids of the context before anything was read, rows x earlier."""
        return {"ids": torch.full((rows, self.earlier), self.symbols.eos, device=self.embedding.weight.device)}

    def states(self, ids_BL: Tensor) -> Tensor:
        """Return the states of all positions but the first ``earlier``, B x T x width."""
        states_BTH: Tensor = self.window(self.embedding.vectors(ids_BL.T).transpose(0, 1))
        return states_BTH

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window of text, and the context at its end; rows that are not carried on start anew."""
        states_TBH, after = self.read(batch, carry)
        return self.output.loss(states_TBH, batch.target_ids, batch.supervision), after

    @torch.no_grad()
    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the context at the end of a window of text: see ``protocols.TextModel``."""
        return self._contexts(batch.to(device_of(self)), carry)[1]

    def read(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """Return the states to predict from, T x B x width, and the context at the end."""
        ids_BL, after = self._contexts(batch, carry)
        return self.states(ids_BL).transpose(0, 1), after

    def _contexts(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """Return the ids that predictions are made from, B x (earlier + T), and the context at the end."""
        ids_BT, lengths_B = batch.input_ids.ids_BT, batch.input_ids.lengths_B
        before_BE = self.initial_state(len(ids_BT))["ids"]
        if carry:
            demand_carry(carry, {"ids": before_BE})
            before_BE = torch.where(batch.carry_mask_B.unsqueeze(1), carry["ids"], before_BE)
        ids_BL = torch.cat([before_BE, ids_BT], dim=1)
        ends_BE = lengths_B.to(ids_BL.device).unsqueeze(1) + torch.arange(self.earlier, device=ids_BL.device)
        return ids_BL, {"ids": ids_BL.gather(1, ends_BE)}

    def read_token(self, state: Mapping[str, Tensor], ids_N: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the states to predict from, N x width, after one more token of every row, and the new context."""
        ids_NL = torch.cat([state["ids"], ids_N.unsqueeze(1)], dim=1)
        return self.states(ids_NL)[:, 0], {"ids": ids_NL[:, 1:]}

    def stepper(self) -> TensorTextStepper:
        """Return the model one token at a time; puts it into evaluation mode."""
        self.eval()
        return TensorTextStepper(self, self.symbols.eos, self.config.network.steps + 1)
