"""Encoder-decoders, whatever their encoder reads: the loss, and the same network one step at a time.

A subclass encodes its inputs; the decoder (``nn/decoder.py``) then writes tokens over what it attends to.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.batch import Batch, Ids
from anaphora.kernels.penalties import doubly_stochastic
from anaphora.kernels.search_step import SearchedNetwork
from anaphora.models.searches import TensorStep, lower_network
from anaphora.nn.attention import AnyAttention, AttentionConfig
from anaphora.nn.decoder import Decoder
from anaphora.nn.device import array_of, device_of
from anaphora.nn.embedding import Embedding
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput
from anaphora.nn.fusion import FrozenLanguageModel
from anaphora.nn.outputs.candidates import CandidateOutput
from anaphora.nn.outputs.output import Output
from anaphora.nn.randomness import present_update, uniform_draws
from anaphora.nn.scheduled_sampling import NoSampling, Sampling, mix_words
from anaphora.nn.weights import Network
from anaphora.protocols import Array, Carry, Loss, PartDescription, SearchStart, Step, VocabularyInfo


class Memory(NamedTuple):
    """Encoded inputs for the decoder; all by signal, B in front."""

    signals: dict[str, Tensor]
    """Memory of attention."""
    first: dict[str, Tensor]
    """Its initial state."""
    lengths_B: Tensor
    """The positions of each row that attention may look at."""


class EncoderDecoder(Network, ABC):
    """An encoder, a decoder, an output layer, and perhaps a language model beside the decoder."""

    symbols: VocabularyInfo
    """Of what is written."""
    encoder: Encoder
    decoder: Decoder
    output: Output
    attention: AnyAttention
    """Its options."""
    language_model: FrozenLanguageModel | None

    @abstractmethod
    def annotate(self, batch: Batch) -> tuple[EncoderOutput, Tensor]:
        """Annotations and summaries of the inputs, and the positions of each row."""

    @property
    @abstractmethod
    def written(self) -> Embedding:
        """The embedding of what is written."""

    @abstractmethod
    def example(self) -> Batch:
        """Return the smallest batch that it can encode, without targets."""

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of the targets given the inputs; the alignment loss is its penalty; nothing is carried."""
        targets, memory = batch.target_ids, self.encode(batch)
        states_TBH, weights_TBS = self._decode(targets, memory)
        loss = self.output.loss(states_TBH, targets, batch.supervision)
        penalty = self.penalty(weights_TBS, memory.lengths_B, batch)
        return (loss if penalty is None else replace(loss, penalty=penalty)), {}

    @torch.no_grad()
    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets are predicted from, T x B x width."""
        batch = batch.to(device_of(self))
        states_TBH, _ = self._decode(batch.target_ids, self.encode(batch))
        return array_of(states_TBH)

    def _decode(self, targets: Ids, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """Return the decoder's outputs for the targets, each read after the one before; and attention, T x B x S."""
        ids_TB = targets.ids_BT.T
        shifted_TB = torch.cat([torch.full_like(ids_TB[:1], self.symbols.bos), ids_TB[:-1]])
        sampling = self.decoder.config.scheduled_sampling
        if self.training and not isinstance(sampling, NoSampling):
            shifted_TB = self._sample_inputs(shifted_TB, memory, sampling)
        x_TBD = self.written.read(shifted_TB, "target")
        language_TBL = self.language_model(shifted_TB, targets.lengths_B) if self.language_model else None
        states_TBH, weights_TBS = self.decoder(x_TBD, targets.lengths_B, memory.first, memory.signals, language_TBL)
        return states_TBH, weights_TBS

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

    def initial_state(self, decoder: dict[str, Tensor]) -> "DecodingState":
        """Return the initial state of a row for each sentence, from that of the decoder."""
        sentences = len(next(iter(decoder.values())))
        return DecodingState(decoder, self.language_model.initial_state(sentences) if self.language_model else {})

    @torch.no_grad()
    def _sample_inputs(self, true_TB: Tensor, memory: Memory, sampling: Sampling) -> Tensor:
        """Target words to read, some of them predicted by the decoder itself."""
        stepper, state = self.stepper(), self.initial_state(memory.first)

        def advance(ids_B: Tensor) -> Tensor:
            nonlocal state
            step = stepper.read(DecodingMemory(memory.signals, None), state, ids_B)
            state = step.state
            return step.log_probs_NV

        def drawn(what: str) -> Tensor:
            return uniform_draws(f"scheduled sampling.{what}", true_TB.numel(), true_TB.device).view(true_TB.shape)

        kept_TB = drawn("kept") < sampling.chance(present_update())
        read_TB = mix_words(true_TB, advance, kept_TB, drawn("words") if sampling.draw == "sample" else None)
        self.train()
        return read_TB.clone()  # an ordinary tensor again, which autograd may save

    @torch.no_grad()
    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of the steps of encoder, language model and decoder: see ``protocols.ProgramModel``."""
        self.eval()
        memory = self.encode(self.example().to(device_of(self)))
        bos_11 = torch.tensor([[self.symbols.bos]])
        of_language, language_11L = dict[str, Sequence[PartDescription]](), None
        if self.language_model:
            of_language["language model"] = self.language_model.recurrence.describe()
            language_11L = self.language_model(bos_11, torch.tensor([1]))
        of_decoder = self.decoder.describe(self.written.vectors(bos_11), memory.first, memory.signals, language_11L)
        return {**self.encoder.programs(), **of_language, "decoder": of_decoder}

    def stepper(self) -> "DecodingStepper":
        """Return the model one token at a time; puts it into evaluation mode."""
        if self.training:
            self.eval()
        return DecodingStepper(self)


class DecodingState(NamedTuple):
    """The state of N rows: N x width by carried signal."""

    signals: dict[str, Tensor]
    """Of the decoder."""
    language: dict[str, Tensor]
    """Of the language model of deep fusion, where there is one."""


class DecodingMemory(NamedTuple):
    """State that all rows of a sentence share."""

    encoded: dict[str, Tensor]
    """Memory of attention, by signal, B in front."""
    shortlist: CandidateOutput | None
    """The candidate words of the sentences; None for all words."""
    narrow: bool = False
    """True if steps are over these alone."""


class DecodingStepper:
    """An encoder-decoder for search: see ``search.compiled_search.CompiledStepper``."""

    def __init__(self, model: EncoderDecoder) -> None:
        """The model is read, never changed."""
        self._model, self._device = model, device_of(model)
        self.size, _, self.unk, self.bos, self.eos = model.symbols

    @torch.inference_mode()
    def start(self, batch: Batch) -> SearchStart:
        """Encode the sentences; ConfigError for candidates where the output is no softmax over words."""
        batch = batch.to(self._device)
        encoded = self._model.encode(batch)
        candidates = batch.constraints.candidates
        shortlist = self._model.output.shortlist(candidates) if candidates else None
        memory = DecodingMemory(encoded.signals, shortlist, batch.constraints.narrow)
        return SearchStart(memory, self._model.initial_state(encoded.first), array_of(encoded.lengths_B))

    def advance(self, memory: DecodingMemory, state: DecodingState, ids_N: Array) -> Step:
        return self.read(memory, state, torch.from_numpy(ids_N).to(self._device)).arrays()

    @torch.inference_mode()
    def read(self, memory: DecodingMemory, state: DecodingState, ids_N: Tensor) -> TensorStep:
        """Return the step of ``advance`` in tensors."""
        encoded, shortlist, narrow = memory
        sentences = len(next(iter(encoded.values())))

        def by_sentence(rows_NW: Tensor) -> Tensor:
            return rows_NW.view(sentences, -1, rows_NW.shape[-1]).transpose(0, 1)

        def by_row(block_KBW: Tensor) -> Tensor:
            return block_KBW.transpose(0, 1).flatten(0, 1)

        x_KBD = self._model.written.words(by_sentence(ids_N.unsqueeze(-1)).squeeze(-1))
        before = {name: by_sentence(rows) for name, rows in state.signals.items()}
        language, language_KBL = state.language, None
        if self._model.language_model:
            language_NL, language = self._model.language_model.advance(ids_N, language)
            language_KBL = by_sentence(language_NL)
        o_KBH, weights_KBS, after = self._model.decoder.advance(x_KBD, before, encoded, language_KBL)
        o_NH = by_row(o_KBH)
        candidates_BC = None
        if shortlist and narrow:
            log_probs_NV, candidates_BC = shortlist.narrow_log_probs(o_NH), shortlist.ids_BC
        else:
            log_probs_NV = (shortlist or self._model.output).log_probs(o_NH)
        weights_NS = None if weights_KBS is None else by_row(weights_KBS)
        signals = {name: by_row(block) for name, block in after.items()}
        return TensorStep(log_probs_NV, weights_NS, DecodingState(signals, language), o_NH, candidates_BC)

    @torch.no_grad()
    def lower(self, start: SearchStart) -> SearchedNetwork | None:
        """Return the network from there for compiled searches; None with a language model beside the decoder."""
        model, (encoded, shortlist, narrow) = self._model, start.memory
        if model.language_model or (shortlist and not narrow):
            return None
        decoder, first, output = model.decoder, start.state.signals, shortlist or model.output
        return lower_network(self, decoder.program, decoder.weights, encoded, first, model.written, output)

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x H."""
        return self._model.target_states(batch)

    def select(self, state: DecodingState, rows_N: Array) -> DecodingState:
        """Return the state of the given rows."""
        kept_N = torch.from_numpy(rows_N)
        return DecodingState(*({name: rows[kept_N] for name, rows in carried.items()} for carried in state))

    def keep(self, memory: DecodingMemory, sentences_B: Array) -> DecodingMemory:
        """Return the memory of the given sentences."""
        kept_B = torch.from_numpy(sentences_B)
        encoded = {name: tensor[kept_B] for name, tensor in memory.encoded.items()}
        shortlist = memory.shortlist.keep(kept_B) if memory.shortlist else None
        return DecodingMemory(encoded, shortlist, memory.narrow)
