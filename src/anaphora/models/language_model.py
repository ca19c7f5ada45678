"""Recurrent language models (Mikolov et al. 2010, Zaremba et al. 2014).

They read running text in windows and carry their state from one to the next; ``</s>`` ends a line and, in front of the
first, serves as ``<s>``. A model of sentences starts every line from the initial state, after ``<s>``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import torch
from pydantic import Field
from torch import Tensor

from anaphora.batch import Batch
from anaphora.config import ByKind, Config
from anaphora.kernels.penalties import change_penalty, size_penalty
from anaphora.kernels.truncation import Windows
from anaphora.kernels.word_tables import Words
from anaphora.models.searches import TensorRecurrentStepper
from anaphora.nn.device import array_of, device_of
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.outputs import AnyOutput
from anaphora.nn.outputs.full import NO_SOURCE_WORDS, Full
from anaphora.nn.outputs.output import Output
from anaphora.nn.spelling import AnyEmbedding, embedding_of
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import AnyStart, Network, Orthogonal
from anaphora.options import MAX_LENGTH, Conflict
from anaphora.protocols import Array, Carry, Loss, PartDescription, VocabularyInfo

_IDS, _EARLIER = "context", "earlier."


@dataclass(frozen=True)
class Chunk:
    """The steps of a chunk and of its context.

    If losses reach k steps back into the chunk before, the last k ids and the state before them are carried too: the
    next chunk computes these steps again as its context, with its own weights.
    """

    ids_TB: Tensor
    """Ids of the context, then those of the batch; T steps of both."""
    lengths_B: Tensor
    """Steps of each row, with the context."""
    first: Carry | None
    """The state before them, also of rows that do not continue; None where nothing was carried."""
    context: int
    """Number of steps at the beginning that have no loss."""

    @classmethod
    def after(cls, carry: Carry | None, batch: Batch, back: int) -> Self:
        """Return the chunk of ``batch`` after ``carry``, in which older checkpoints have no context.

        A chunk has a context if gradients are computed and go back over ``back`` > 0 steps, and every row continues.
        """
        ids_TB, lengths_B = batch.input_ids.ids_BT.T, batch.input_ids.lengths_B
        if not carry:
            return cls(ids_TB, lengths_B, None, 0)
        if back and _IDS in carry and torch.is_grad_enabled() and bool(batch.carry_mask_B.all()):
            earlier = {name.removeprefix(_EARLIER): h for name, h in carry.items() if name.startswith(_EARLIER)}
            context_CB = carry[_IDS].T
            context = len(context_CB)
            return cls(torch.cat([context_CB, ids_TB]), lengths_B + context, earlier, context)
        state = {name: h_BH for name, h_BH in carry.items() if name != _IDS and not name.startswith(_EARLIER)}
        return cls(ids_TB, lengths_B, state, 0)

    def carry_at(self, scanned: Windows, back: int) -> Carry:
        """Return the carry: the detached state.

        With gradients over ``back`` steps, also the context of the next chunk.
        """
        state = {name: h_BH.detach() for name, h_BH in scanned.state.items()}
        if not back or not scanned.earlier or int(self.lengths_B.min()) < len(self.ids_TB):
            return state
        earlier = {_EARLIER + name: h_BH for name, h_BH in scanned.earlier.items()}
        return state | earlier | {_IDS: self.ids_TB[-back:].T.contiguous()}


class ChunkTruncation(Config):
    """Gradients reach back to the start of their chunk of the text, ``data.steps`` predictions long."""

    kind: Literal["chunk"] = "chunk"
    """The kind's name."""


class WindowTruncation(Config):
    """Every gradient reaches back the same number of steps, also into earlier chunks; takes ``steps`` times as long."""

    kind: Literal["window"] = "window"
    """The kind's name."""
    steps: int = Field(ge=0, le=MAX_LENGTH)
    """k: the gradient of step t reaches back over steps t - k to t; 0 for the step itself alone."""


class RecurrenceConfig(StackConfig):
    """The recurrent layers of a language model."""

    truncation: ByKind[ChunkTruncation | WindowTruncation] = ChunkTruncation()
    """Truncation of backpropagation through time."""
    activation_regularization: float = Field(0.0, ge=0)
    """alpha: activation regularization, the weight of the mean square of the top layer's outputs after dropout (Merity
    et al. 2018, section 4.6); not part of the reported loss."""
    temporal_activation_regularization: float = Field(0.0, ge=0)
    """beta: temporal activation regularization, the weight of the mean square of the change of the top layer's outputs
    from step to step, before dropout."""


class LanguageModelConfig(Config):
    """The tables of a recurrent language model."""

    reads: Literal["stream", "sentences"] = "stream"
    """Read running text, with the state carried from line to line, or every line by itself."""
    embedding: AnyEmbedding = EmbeddingConfig()
    """Word vectors: a table, or words composed from their characters."""
    recurrence: RecurrenceConfig = RecurrenceConfig()
    """Recurrent layers."""
    output: AnyOutput = Full()
    """Output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"output.tied": True, "embedding.kind": "character-cnn"},
            'words have no table to share; set output.tied = false, or embedding.kind = "table"',
        ),
        NO_SOURCE_WORDS,
    )


class TextNetwork(Network, ABC):
    """A network of running text: see ``protocols.StateModel``."""

    output: Output

    @abstractmethod
    def read(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        """Return the states to predict from, T x B x width, and the state for the next window."""

    def target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Carry]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        return self.states_and_target_log_probs(batch, carry)[1:]

    @torch.no_grad()
    def states_and_target_log_probs(self, batch: Batch, carry: Carry | None = None) -> tuple[Array, Array, Carry]:
        """Return the same, with the states: see ``protocols.StateModel``."""
        states_TBH, after = self.read(batch.to(device_of(self)), carry)
        return array_of(states_TBH.transpose(0, 1)), self.output.target_log_probs(states_TBH, batch.target_ids), after

    @torch.no_grad()
    def carry_after(self, batch: Batch, carry: Carry | None = None) -> Carry:
        """Return the state at the end of a window: see ``protocols.TextModel``."""
        return self.read(batch.to(device_of(self)), carry)[1]


class LanguageModel(TextNetwork):
    """An embedding, a stack of recurrent layers, and an output layer."""

    config: LanguageModelConfig

    def __init__(self, config: LanguageModelConfig, text: VocabularyInfo, words: Sequence[str] = ()) -> None:
        """The network with all weights 0; ``words`` are those of the vocabulary where tokens are words.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        self.config, self.symbols = config, text
        self.embedding = embedding_of(config.embedding, text, words)
        table = self.embedding if isinstance(self.embedding, Embedding) else None
        changes = config.recurrence.temporal_activation_regularization > 0
        self.recurrence = Stack(config.recurrence, config.embedding.size, "recurrence", undropped=changes)
        self.output = config.output.build(table, config.recurrence.size, text)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a window, and the state for the next.

        Rows that are not carried on start from the initial one.

        A model of sentences carries nothing.
        """
        outputs, after = self._read(batch, carry)
        loss = self.output.loss(outputs["h"], batch.target_ids, batch.supervision)
        return (self._regularize(loss, outputs, batch) if self.training else loss), after

    def _regularize(self, loss: Loss, outputs: Mapping[str, Tensor], batch: Batch) -> Loss:
        """Return the loss, with the regularization of the states as its penalty."""
        config, rows = self.config.recurrence, (batch.target_ids.lengths_B, batch.supervision.weights_B)
        penalties = []
        if config.activation_regularization:
            penalties.append(config.activation_regularization * size_penalty(outputs["h"], *rows))
        if config.temporal_activation_regularization:
            penalties.append(config.temporal_activation_regularization * change_penalty(outputs["undropped"], *rows))
        return replace(loss, penalty=torch.stack(penalties).sum()) if penalties else loss

    def read(self, batch: Batch, carry: Carry | None) -> tuple[Tensor, Carry]:
        outputs, after = self._read(batch, carry)
        return outputs["h"], after

    def _read(self, batch: Batch, carry: Carry | None) -> tuple[Mapping[str, Tensor], Carry]:
        """Return the states to predict from as "h", T x B x width, and the state for the next window."""
        truncation = self.config.recurrence.truncation
        back = truncation.steps if isinstance(truncation, WindowTruncation) else None
        chunk = Chunk.after(carry, batch, back or 0)
        x_TBD = self.embedding.read(chunk.ids_TB)
        first = self.recurrence.initial_state(batch.size, chunk.first, batch.carry_mask_B)
        scanned = self.recurrence(x_TBD, chunk.lengths_B, first, back, chunk.context)
        carries = self.config.reads == "stream"
        return scanned.outputs, chunk.carry_at(scanned, back or 0) if carries else {}

    @torch.no_grad()
    def following_log_probs(
        self, carry: Carry | None, ids_N: Array, rows_E: Array, ids_E: Array
    ) -> tuple[Array, Carry]:
        """Read one token after what every row has read: nothing where there is no ``carry``.

        Returns ln p of words that may follow, each after one of the rows, which ascend, as ``Output.log_probs_of``; and
        what the rows carry on.
        """
        state = carry or self.initial_state(len(ids_N))
        states_NH, after = self.read_token(state, torch.from_numpy(ids_N).to(device_of(self)))
        return self.output.log_probs_of(states_NH, rows_E, ids_E), after

    def initial_state(self, rows: int) -> dict[str, Tensor]:
        """Return the state before anything was read."""
        return self.recurrence.initial_state(rows)

    def words(self, ids: Tensor) -> Tensor | Words:
        """Return what a step reads, of any block of ids."""
        return self.embedding.read(ids)

    def read_token(self, state: Mapping[str, Tensor], ids_N: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The states to predict from, N x width, after one more token of every row, and the state for the next one."""
        return self.recurrence.advance(self.words(ids_N.unsqueeze(0)), state)

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of a step: see ``protocols.ProgramModel``."""
        return {"recurrence": self.recurrence.describe()}

    def stepper(self) -> TensorRecurrentStepper:
        """Return the model one token at a time; puts it into evaluation mode."""
        if self.training:
            self.eval()
        sentences, symbols = self.config.reads == "sentences", self.symbols
        return TensorRecurrentStepper(self, symbols.bos if sentences else symbols.eos)
