"""The language model of a fixed window: what comes next depends on the few symbols before it, and on no others.

It reads running text as the recurrent models do, ``</s>`` between lines; its state are the ids of the symbols that are
still in sight. In front of the text stands ``</s>`` as far as one can see.
"""

import torch
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.outputs import AnyOutput, Full
from anaphora.nn.randomness import generator
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.nn.windows import AnyWindow, Feedforward, WindowBody
from anaphora.protocols import Batch, Carry, Loss, Sequence, Step, VocabularyInfo


class FeedForwardLanguageModelConfig(Config):
    """The network tables of a language model with a fixed window."""

    embedding: EmbeddingConfig = EmbeddingConfig()
    """Vectors of words or characters."""
    window: AnyWindow = Feedforward()
    """What reads the symbols in sight."""
    output: AnyOutput = Full()
    """How the next symbol is predicted."""
    initialise: AnyStart = Orthogonal()
    """What the weights start from."""


class FeedForwardLanguageModel(nn.Module):
    """An embedding, a body that reads a few symbols at a time, and an output layer."""

    def __init__(self, config: FeedForwardLanguageModelConfig, text: VocabularyInfo) -> None:
        """Size and marks of the vocabulary.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        self.config, self.symbols = config, text
        self.embedding = Embedding(config.embedding, text.size, "text")
        self.window = WindowBody(config.window, config.embedding.size)
        self.output = config.output.build(self.embedding, self.window.width, text)

    def initialise(self, seed: int) -> None:
        """Fill every weight with what training under this seed starts from."""
        source = generator(seed, "initialise")
        for layer in self.embedding, self.window, self.output:
            layer.initialise(self.config.initialise, source)

    @property
    def earlier(self) -> int:
        """How many symbols are in sight beside the one read last."""
        return self.config.window.steps - 1

    def empty_context(self, rows: int) -> Tensor:
        """What is in sight before anything was read, rows x earlier."""
        return torch.full((rows, self.earlier), self.symbols.eos, device=self.embedding.weight.device)

    def states(self, ids_BL: Tensor) -> Tensor:
        """The states of all places but the first ``earlier``, B x T x width."""
        states_BTH: Tensor = self.window(self.embedding.vectors(ids_BL.T).transpose(0, 1))
        return states_BTH

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a window of text, and what is in sight at its end; rows that are not continued start afresh."""
        states_TBH, targets, after = self._read(batch, carry)
        return self.output.loss(states_TBH, targets), after

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """What each target of a window of text costs: see ``protocols.TextModel``."""
        return self.states_and_target_log_probs(batch, carry)[1:]

    def states_and_target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Tensor, Carry]:
        """The same, with the states: see ``protocols.StateModel``."""
        states_TBH, targets, after = self._read(batch, carry)
        return states_TBH.transpose(0, 1), self.output.target_log_probs(states_TBH, targets), after

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """What is in sight at the end of a window of text: see ``protocols.TextModel``."""
        return self._in_sight(batch, carry)[1]

    def _read(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Sequence, Carry]:
        """The states to predict from, what is to be predicted, and what is in sight at the end."""
        if batch.targets is None:
            raise ValueError("a batch without targets has no loss: search it through stepper() instead.")
        ids_BL, after = self._in_sight(batch, carry)
        return self.states(ids_BL).transpose(0, 1), batch.targets, after

    def _in_sight(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """The ids that predictions are made from, B x (earlier + T), and what is in sight at the end."""
        ids_BT, lengths_B = batch.inputs.ids_BT, batch.inputs.lengths_B
        before_BE = self.empty_context(len(ids_BT))
        if carry:
            before_BE = torch.where(batch.continues_B.unsqueeze(1), carry["ids"], before_BE)
        ids_BL = torch.cat([before_BE, ids_BT], dim=1)
        ends_BE = lengths_B.to(ids_BL.device).unsqueeze(1) + torch.arange(self.earlier, device=ids_BL.device)
        return ids_BL, {"ids": ids_BL.gather(1, ends_BE)}

    def stepper(self) -> "FeedForwardStepper":
        """The model one symbol at a time; puts it into evaluation mode."""
        self.eval()
        return FeedForwardStepper(self)


class FeedForwardStepper:
    """A model with a fixed window for search: see ``protocols.TextStepper``."""

    def __init__(self, model: FeedForwardLanguageModel) -> None:
        """The model is read, never changed."""
        self._model, self.order = model, model.config.window.steps + 1
        self.size, _, self.unk, _, self.eos = model.symbols
        self.bos = self.eos

    def start(self, batch: Batch) -> tuple[None, Tensor]:
        """What is in sight before anything was read, for each row of the batch."""
        return None, self._model.empty_context(len(batch.numbers_B))

    @torch.inference_mode()
    def advance(self, memory: None, state: Tensor, ids_N: Tensor) -> Step:
        """One symbol of every row."""
        ids_NL = torch.cat([state, ids_N.unsqueeze(1)], dim=1)
        log_probs_NV = self._model.output.log_probs(self._model.states(ids_NL)[:, 0])
        return Step(log_probs_NV, None, ids_NL[:, 1:])

    def select(self, state: Tensor, rows_N: Tensor) -> Tensor:
        """What the given rows see."""
        return state[rows_N]

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is nothing to keep."""

    def unconditional(self) -> Step:
        """As after the end of a line: the network has learnt no other place where nothing is known."""
        return self.advance(None, self._model.empty_context(1), torch.tensor([self.bos]))

    def matched(self, state: Tensor, ids_N: Tensor, read: int) -> int:
        """As many as are in sight."""
        return min(read + 1, self.order)
