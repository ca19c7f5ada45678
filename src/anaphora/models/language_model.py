"""The recurrent language model: text in, the next symbol out (Mikolov et al. 2010, Zaremba et al. 2014).

It reads running text in windows and carries its state from one to the next; ``</s>`` ends a line and, in front of the
first, stands for ``<s>``. A model of sentences begins every line from nothing, after ``<s>``.
"""

from collections import abc
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.config import Config, by_kind
from anaphora.kernels.penalty import change_penalty, size_penalty
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.outputs import AnyOutput, Full
from anaphora.nn.randomness import generator
from anaphora.nn.spelling import AnyEmbedding, embedding_of
from anaphora.nn.stack import RecurrentConfig, Stack
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.protocols import Batch, Carry, Loss, Sequence, Step, VocabularyInfo


class ChunkTruncation(Config):
    """Gradients go back to the start of their chunk of the text, ``data.steps`` predictions long."""

    kind: Literal["chunk"] = "chunk"
    """The kind's name."""


class WindowTruncation(Config):
    """Every prediction's gradient goes back over as many steps, within its chunk; costs ``steps`` times as much."""

    kind: Literal["window"] = "window"
    """The kind's name."""
    steps: int = Field(ge=0)
    """k: the loss of step t goes back over steps t - k to t, so 0 sees the step itself alone."""


class RecurrenceConfig(RecurrentConfig):
    """The recurrent layers of a language model."""

    truncation: Annotated[ChunkTruncation | WindowTruncation, Field(discriminator="kind"), by_kind] = ChunkTruncation()
    """Where backpropagation through time stops."""
    size_penalty: float = Field(0.0, ge=0)
    """alpha: what the mean square of the top layer's outputs costs in training, what dropout left of them (Merity et
    al. 2018, section 4.6); no part of the loss that is shown."""
    change_penalty: float = Field(0.0, ge=0)
    """beta: what the mean square of the change of the top layer's outputs from step to step costs, before dropout."""


class LanguageModelConfig(Config):
    """The network tables of a recurrent language model."""

    reads: Literal["stream", "sentences"] = "stream"
    """Whether it reads running text, its state carried from line to line, or every line by itself."""
    embedding: AnyEmbedding = EmbeddingConfig()
    """Vectors of words or characters: a table, or words composed from their characters."""
    recurrence: RecurrenceConfig = RecurrenceConfig()
    """What reads the text."""
    output: AnyOutput = Full()
    """How the next symbol is predicted."""
    initialise: AnyStart = Orthogonal()
    """What the weights start from."""


class LanguageModel(nn.Module):
    """An embedding, a stack of recurrent layers, and an output layer."""

    def __init__(self, config: LanguageModelConfig, text: VocabularyInfo, words: abc.Sequence[str] = ()) -> None:
        """Size and marks of the vocabulary, and its words where units are words.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        self.config, self.symbols = config, text
        self.embedding = embedding_of(config.embedding, text, words, "text")
        table = self.embedding if isinstance(self.embedding, Embedding) else None
        changes = config.recurrence.change_penalty > 0
        self.recurrence = Stack(config.recurrence, config.embedding.size, "recurrence", undropped=changes)
        self.output = config.output.build(table, config.recurrence.size, text)

    def initialise(self, seed: int) -> None:
        """Fill every weight with what training under this seed starts from."""
        source = generator(seed, "initialise")
        for layer in self.embedding, self.recurrence, self.output:
            layer.initialise(self.config.initialise, source)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a window, and the state for the next; rows that do not go on start from zero.

        Of sentences nothing is carried.
        """
        outputs, targets, after = self._read(batch, carry)
        loss = self.output.loss(outputs["h"], targets)
        return (self._penalised(loss, outputs, targets) if self.training else loss), after

    def _penalised(self, loss: Loss, outputs: Mapping[str, Tensor], targets: Sequence) -> Loss:
        """The loss, and what the states cost beside it."""
        config, rows = self.config.recurrence, (targets.lengths_B, targets.weights_B)
        costs = []
        if config.size_penalty:
            costs.append(config.size_penalty * size_penalty(outputs["h"], *rows))
        if config.change_penalty:
            costs.append(config.change_penalty * change_penalty(outputs["undropped"], *rows))
        return replace(loss, penalty=torch.stack(costs).sum()) if costs else loss

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """What each target of a window costs: see ``protocols.TextModel``."""
        return self.states_and_target_log_probs(batch, carry)[1:]

    def states_and_target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Tensor, Tensor, Carry]:
        """The same, with the states: see ``protocols.StateModel``."""
        outputs, targets, after = self._read(batch, carry)
        states_TBH = outputs["h"]
        return states_TBH.transpose(0, 1), self.output.target_log_probs(states_TBH, targets), after

    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """The state at the end of a window: see ``protocols.TextModel``."""
        return self._read(batch, carry)[2]

    def _read(self, batch: Batch, carry: Carry | None) -> tuple[Mapping[str, Tensor], Sequence, Carry]:
        """The states to predict from as "h", what is to be predicted, and the state for the next window."""
        if batch.targets is None:
            raise ValueError("a batch without targets has no loss: search it through stepper() instead.")
        first = None
        if carry:
            goes_on_B1 = batch.continues_B.unsqueeze(1)
            first = {name: state_BH.where(goes_on_B1, 0) for name, state_BH in carry.items()}
        x_TBD = self.embedding.vectors(batch.inputs.ids_BT.T)
        truncation = self.config.recurrence.truncation
        back = truncation.steps if isinstance(truncation, WindowTruncation) else None
        scanned = self.recurrence(x_TBD, batch.inputs.lengths_B, first, back)
        if self.config.reads == "sentences":
            return scanned.outputs, batch.targets, {}
        return scanned.outputs, batch.targets, {name: h_BH.detach() for name, h_BH in scanned.state.items()}

    def stepper(self) -> "LanguageModelStepper":
        """The model one symbol at a time; puts it into evaluation mode."""
        self.eval()
        return LanguageModelStepper(self)


class LanguageModelStepper:
    """A language model for search: see ``protocols.Stepper``. It needs no memory."""

    order = 0

    def __init__(self, model: LanguageModel) -> None:
        """The model is read, never changed."""
        self._model = model
        self.size, _, self.unk, bos, self.eos = model.symbols
        self.bos = bos if model.config.reads == "sentences" else self.eos

    @torch.inference_mode()
    def start(self, batch: Batch) -> tuple[None, dict[str, Tensor]]:
        """The state before anything was read, for each row of the batch."""
        return None, self._model.recurrence.zeros(len(batch.numbers_B))

    @torch.inference_mode()
    def advance(self, memory: None, state: dict[str, Tensor], ids_N: Tensor) -> Step:
        """One symbol of every row."""
        before = {name: rows.unsqueeze(0) for name, rows in state.items()}
        h_1NH, after = self._model.recurrence.advance(self._model.embedding.vectors(ids_N).unsqueeze(0), before)
        log_probs_NV = self._model.output.log_probs(h_1NH[0])
        return Step(log_probs_NV, None, {name: rows[0] for name, rows in after.items()})

    def select(self, state: dict[str, Tensor], rows_N: Tensor) -> dict[str, Tensor]:
        """The state of the given rows."""
        return {name: rows[rows_N] for name, rows in state.items()}

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        """There is nothing to keep."""

    @torch.inference_mode()
    def unconditional(self) -> Step:
        """As after the end of a line: the network has learnt no other place where nothing is known."""
        return self.advance(None, self._model.recurrence.zeros(1), torch.tensor([self.bos]))

    def matched(self, state: dict[str, Tensor], ids_N: Tensor, read: int) -> int:
        """All of them."""
        return read + 1
