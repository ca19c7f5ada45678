"""Encoder-decoders, whatever their encoder reads: the loss, and the same network one step at a time.

A subclass encodes its inputs; the decoder (``nn/decoder.py``) then writes tokens over what it attends to.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.inference.encoder_decoder import DecodingMemory
from anaphora.kernels.log_probs import Attended
from anaphora.kernels.outputs.alignments import alignment_loss
from anaphora.kernels.penalties import doubly_stochastic
from anaphora.kernels.softmax import target_log_probs
from anaphora.kernels.word_tables import Words
from anaphora.models.searches import TensorDecodingStepper
from anaphora.nn.attention import AnyAttention, AttentionConfig
from anaphora.nn.decoder import Decoder
from anaphora.nn.device import array_of, device_of
from anaphora.nn.embedding import Embedding
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput
from anaphora.nn.fusion import FrozenLanguageModel
from anaphora.nn.outputs.output import Output, SoftmaxOutput
from anaphora.nn.randomness import present_update, uniform_draws
from anaphora.nn.scheduled_sampling import NoSampling, Sampling, mix_words
from anaphora.nn.weights import Network
from anaphora.protocols import Array, Carry, Loss, PartDescription, VocabularyInfo


class Memory(NamedTuple):
    """Encoded inputs for the decoder; all by signal, B in front."""

    signals: dict[str, Tensor]
    """Memory of attention."""
    first: dict[str, Tensor]
    """Initial state."""
    lengths_B: Tensor
    """The positions of each row that attention may look at."""


class EncoderDecoder(Network, ABC):
    """An encoder, a decoder, an output layer, and perhaps a language model beside the decoder."""

    symbols: VocabularyInfo
    """Symbols that are written."""
    encoder: Encoder
    decoder: Decoder
    output: Output
    attention: AnyAttention
    """Options of attention."""
    language_model: FrozenLanguageModel | None

    @abstractmethod
    def annotate(self, batch: Batch) -> tuple[EncoderOutput, Tensor]:
        """Annotations and summaries of the inputs, and the positions of each row."""

    @property
    @abstractmethod
    def written(self) -> Embedding:
        """The embedding of what is written."""

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of the targets given the inputs; the alignment loss is its penalty; nothing is carried."""
        targets, memory = batch.target_ids, self.encode(batch)
        signals = self._decode(batch, memory)
        if self.decoder.alignments:
            return self._alignment_loss(signals, batch, memory), {}
        attended, weights_TBS = None, signals.get("weights")
        if self.output.copies:
            assert weights_TBS is not None
            attended = Attended(signals["generates"], weights_TBS, batch.input_ids.ids_BT.expand_as(weights_TBS))
        loss = self.output.loss(signals["o"], targets, batch.supervision, attended)
        penalty = self.penalty(weights_TBS, memory.lengths_B, batch)
        return (loss if penalty is None else replace(loss, penalty=penalty)), {}

    @torch.no_grad()
    def target_signals(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Return what the decoder returns for the targets, T x B x width by signal, and its memory."""
        batch = batch.to(device_of(self))
        memory = self.encode(batch)
        return self._decode(batch, memory), memory.signals

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets are predicted from, T x B x width."""
        return array_of(self.target_signals(batch)[0]["o"])

    def _alignment_loss(self, signals: Mapping[str, Tensor], batch: Batch, memory: Memory) -> Loss:
        """Return the loss of the targets over all alignments of hard attention."""
        alignments, targets = self.decoder.alignments, batch.target_ids
        assert alignments and isinstance(self.output, SoftmaxOutput)
        closed_BS, scores_TBS = memory.signals["attention.closed"], signals["scores"]
        open_TBS = targets.mask_BT.T.unsqueeze(2) & ~closed_BS
        states_NR = self.decoder.at_positions(signals["o"], memory.signals)[open_TBS]
        ids_N = targets.ids_BT.T.unsqueeze(2).expand(open_TBS.shape)[open_TBS]
        log_probs_N = target_log_probs(states_NR, self.output.weight, self.output.used_bias, ids_N)
        emissions_TBS = torch.zeros_like(scores_TBS).masked_scatter(open_TBS, log_probs_N)
        scored = emissions_TBS, scores_TBS, signals.get("jumps", scores_TBS[..., :0]), closed_BS, targets.lengths_B
        return Loss(alignment_loss(alignments, *scored, batch.supervision.weights_B), batch.predictions)

    def _decode(self, batch: Batch, memory: Memory) -> dict[str, Tensor]:
        """Return what the decoder returns for the targets, each read after the one before, T x B x width by signal."""
        targets = batch.target_ids
        ids_TB = targets.ids_BT.T
        shifted_TB = torch.cat([torch.full_like(ids_TB[:1], self.symbols.bos), ids_TB[:-1]])
        sampling = self.decoder.config.scheduled_sampling
        if self.training and not isinstance(sampling, NoSampling):
            shifted_TB = self._sample_inputs(shifted_TB, batch, memory, sampling)
        x_TBD = self.written.read(shifted_TB, "target")
        language_TBL = self.language_model(shifted_TB, targets.lengths_B) if self.language_model else None
        return dict(self.decoder(x_TBD, targets.lengths_B, memory.first, memory.signals, language_TBL))

    def penalty(self, weights_TBS: Tensor | None, memory_lengths_B: Tensor, batch: Batch) -> Tensor | None:
        """Return the penalty beside the loss, of attention that leaves positions out or returns to them."""
        factor = self.attention.doubly_stochastic if isinstance(self.attention, AttentionConfig) else 0.0
        if not factor or weights_TBS is None:
            return None
        lengths_B, weights_B = batch.target_ids.lengths_B, batch.supervision.weights_B
        return factor * doubly_stochastic(weights_TBS, lengths_B, memory_lengths_B, weights_B)

    def encode(self, batch: Batch) -> Memory:
        """Return the memory that the decoder attends to, and its initial state."""
        encoded, lengths_B = self.annotate(batch)
        return Memory(
            self.decoder.prepare(encoded, lengths_B), self.decoder.initial_state(encoded, lengths_B), lengths_B
        )

    def words(self, ids: Tensor) -> Words:
        """Return words that a step reads, of any block of ids."""
        return self.written.words(ids)

    @torch.no_grad()
    def _sample_inputs(self, true_TB: Tensor, batch: Batch, memory: Memory, sampling: Sampling) -> Tensor:
        """Target words to read, some of them predicted by the decoder itself."""
        stepper, sentences = self.stepper(), len(memory.lengths_B)
        state = stepper.initial_state(memory.first, sentences)
        own = DecodingMemory(sentences, memory.signals, None, source_BS=stepper.source(batch))

        def advance(ids_B: Tensor) -> Tensor:
            nonlocal state
            step = stepper.read(own, state, ids_B)
            state = step.state
            log_probs_NV: Tensor = step.log_probs_NV
            return log_probs_NV

        def drawn(what: str) -> Tensor:
            return uniform_draws(f"scheduled sampling.{what}", true_TB.numel(), true_TB.device).view(true_TB.shape)

        kept_TB = drawn("kept") < sampling.chance(present_update())
        read_TB = mix_words(true_TB, advance, kept_TB, drawn("words") if sampling.draw == "sample" else None)
        self.train()
        return read_TB.clone()  # an ordinary tensor again, which autograd may save

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of the steps of encoder, language model and decoder: see ``protocols.ProgramModel``."""
        fused = self.language_model
        of_language = {"language model": fused.recurrence.describe()} if fused else {}
        return {**self.encoder.programs(), **of_language, "decoder": self.decoder.describe()}

    def stepper(self) -> TensorDecodingStepper:
        """Return the model one token at a time; puts it into evaluation mode."""
        if self.training:
            self.eval()
        return TensorDecodingStepper(self)
