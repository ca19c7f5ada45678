"""Feed-forward language models: a prediction depends on the last few tokens alone (a fixed context).

They read running text as the recurrent models do, with ``</s>`` between lines. Their state is the ids of the context,
which is ``</s>`` throughout before a text.
"""

import numpy as np
import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.config import Config
from anaphora.models.searches import TensorStep
from anaphora.nn.device import array_of, device_of
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.outputs import AnyOutput
from anaphora.nn.outputs.full import Full
from anaphora.nn.weights import AnyStart, Network, Orthogonal, demand_carry
from anaphora.nn.windows import AnyWindow, Feedforward, WindowBody
from anaphora.protocols import Array, Carry, Loss, SearchStart, Step, VocabularyInfo


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


class FeedForwardLanguageModel(Network):
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

    @property
    def earlier(self) -> int:
        """Number of tokens of the context before the last one."""
        return self.config.network.steps - 1

    def empty_context(self, rows: int) -> Tensor:
        """Return the ids of the context before anything was read, rows x earlier."""
        return torch.full((rows, self.earlier), self.symbols.eos, device=self.embedding.weight.device)

    def states(self, ids_BL: Tensor) -> Tensor:
        """Return the states of all positions but the first ``earlier``, B x T x width."""
        states_BTH: Tensor = self.window(self.embedding.vectors(ids_BL.T).transpose(0, 1))
        return states_BTH

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window of text, and the context at its end; rows that are not carried on start anew."""
        states_TBH, after = self._read(batch, carry)
        return self.output.loss(states_TBH, batch.target_ids, batch.supervision), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Carry]:
        """ln p of each target of a window of text: see ``protocols.TextModel``."""
        return self.states_and_target_log_probs(batch, carry)[1:]

    @torch.no_grad()
    def states_and_target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Array, Carry]:
        """Return the same, with the states: see ``protocols.StateModel``."""
        batch = batch.to(device_of(self))
        states_TBH, after = self._read(batch, carry)
        log_probs_BT = self.output.target_log_probs(states_TBH, batch.target_ids)
        return array_of(states_TBH.transpose(0, 1)), array_of(log_probs_BT), after

    @torch.no_grad()
    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the context at the end of a window of text: see ``protocols.TextModel``."""
        return self._contexts(batch.to(device_of(self)), carry)[1]

    def _read(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """Return the states to predict from, T x B x width, and the context at the end."""
        ids_BL, after = self._contexts(batch, carry)
        return self.states(ids_BL).transpose(0, 1), after

    def _contexts(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """Return the ids that predictions are made from, B x (earlier + T), and the context at the end."""
        ids_BT, lengths_B = batch.input_ids.ids_BT, batch.input_ids.lengths_B
        before_BE = self.empty_context(len(ids_BT))
        if carry:
            demand_carry(carry, {"ids": before_BE})
            before_BE = torch.where(batch.carry_mask_B.unsqueeze(1), carry["ids"], before_BE)
        ids_BL = torch.cat([before_BE, ids_BT], dim=1)
        ends_BE = lengths_B.to(ids_BL.device).unsqueeze(1) + torch.arange(self.earlier, device=ids_BL.device)
        return ids_BL, {"ids": ids_BL.gather(1, ends_BE)}

    def stepper(self) -> "FeedForwardStepper":
        """Return the model one token at a time; puts it into evaluation mode."""
        self.eval()
        return FeedForwardStepper(self)


class FeedForwardStepper:
    """A feed-forward language model for search: see ``protocols.TextStepper``. It needs no memory."""

    def __init__(self, model: FeedForwardLanguageModel) -> None:
        """The model is read, never changed."""
        self._model, self.order = model, model.config.network.steps + 1
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos

    def start(self, batch: Batch) -> SearchStart:
        """Return the empty context for each row of the batch."""
        return SearchStart(None, self._model.empty_context(batch.size), np.zeros(batch.size, dtype=np.int64))

    def advance(self, memory: None, state: Tensor, ids_N: Array) -> Step:
        with torch.inference_mode():
            ids_N1 = torch.from_numpy(ids_N).to(state.device).unsqueeze(1)
            ids_NL = torch.cat([state, ids_N1], dim=1)
            step = TensorStep(self._model.output.log_probs(self._model.states(ids_NL)[:, 0]), None, ids_NL[:, 1:])
        return step.arrays()

    def select(self, state: Tensor, rows_N: Array) -> Tensor:
        return state[torch.from_numpy(rows_N)]

    def keep(self, memory: None, sentences_B: Array) -> None:
        """There is no memory."""

    def unconditional(self) -> Step:
        """Return the prediction after the end of a line: the network has learnt no other one without context."""
        return self.advance(None, self._model.empty_context(1), np.array([self.bos]))

    def match_length(self, state: Tensor, ids_N: Array, read: int) -> int:
        """Return as many tokens as the context holds."""
        return min(read + 1, self.order)
