"""Encoder-decoder translators.

With ``encoder.bidirectional``, an LSTM in both, attention "general", input feeding and no biases this is exactly the
recipe ``bilstm-attention``; other options give the systems of Bahdanau et al. (2015) and Luong et al.
(2015), and without attention to those of Kalchbrenner and Blunsom (2013), Cho et al. (2014) and Sutskever et al.
(2014).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from anaphora.batch import Batch, Supervision, pad
from anaphora.config import Config, Conflict, other_than
from anaphora.errors import ConfigError
from anaphora.kernels.description import PartDescription
from anaphora.kernels.guidance import guidance
from anaphora.models.guide import AnyGuide, NoGuide
from anaphora.nn.attention import AnyAttention, AttentionConfig
from anaphora.nn.decoder import CONFLICTS, Decoder, DecoderConfig
from anaphora.nn.device import device_of
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.nn.encoders import AnyEncoder, EncoderConfig
from anaphora.nn.fusion import AnyFusion, DeepFusion, FrozenLanguageModel, NoFusion
from anaphora.nn.outputs import AnyOutput, Full, Shortlist
from anaphora.nn.randomness import generator, present_update, uniform_draws
from anaphora.nn.scheduled_sampling import NoSampling, Sampling, mixed
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.protocols import Carry, Loss, SearchStart, Step, VocabularyInfo


class TranslationEmbeddingConfig(TableConfig):
    """Word vectors of source and target."""

    shared: bool = False
    """Share one table between both sides (which must share one vocabulary)."""
    source_vectors: str = "none"
    """File of pretrained source word vectors; words without one, or all with "none", start at random."""
    target_vectors: str = "none"
    """The same for the target; in a shared table, for the words without a vector in ``source_vectors``."""

    @property
    def files(self) -> Mapping[str, str]:
        named = {"source": self.source_vectors, "target": self.target_vectors}
        return {side: file for side, file in named.items() if file != "none"}


class TranslatorConfig(Config):
    """The tables of a translator."""

    embedding: TranslationEmbeddingConfig = TranslationEmbeddingConfig()
    """Word vectors."""
    encoder: AnyEncoder = EncoderConfig()
    """Encoder."""
    decoder: DecoderConfig = DecoderConfig()
    """Decoder."""
    attention: AnyAttention = AttentionConfig()
    """Attention."""
    output: AnyOutput = Full()
    """Output layer."""
    fusion: AnyFusion = NoFusion()
    """Deep fusion with a language model; only the readout and the output layer are trained then."""
    guided_alignment: AnyGuide = NoGuide()
    """Alignment supervision of attention in training."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        *CONFLICTS,
        Conflict(
            {"guided_alignment.kind": other_than("none"), "attention.kind": "none"},
            'nothing attends; set guided_alignment = "none", or let it attend',
        ),
        Conflict(
            {"guided_alignment.kind": other_than("none"), "attention.kind": "gaussian-window"},
            "alignments are compared with weights that are shares, and those of a window can grow without end; set "
            'guided_alignment = "none", or attention.kind = "soft"',
        ),
        Conflict(
            {"guided_alignment.kind": other_than("none"), "fusion.kind": other_than("none")},
            'attention learns no more; set guided_alignment = "none", or train the translator with it before it is '
            "fused",
        ),
    )


class Translator(nn.Module):
    """An encoder, a decoder, an output layer, and perhaps a language model beside the decoder."""

    def __init__(self, config: TranslatorConfig, source: VocabularyInfo, target: VocabularyInfo) -> None:
        """The network with all weights 0.

        Raises:
            ConfigError: the options do not go together, or not with the vocabularies.
        """
        super().__init__()
        if config.embedding.shared and source != target:
            raise ConfigError(
                f"embedding.shared needs one vocabulary for both sides, but the source has {source.size} tokens "
                f"and the target {target.size}: set text.joint = true, or embedding.shared = false."
            )
        self.config, self.symbols = config, target
        self.target_embedding = Embedding(config.embedding, target.size, "words")
        self.source_embedding = (
            self.target_embedding if config.embedding.shared else Embedding(config.embedding, source.size, "words")
        )
        self.encoder = config.encoder.build(config.embedding.size)
        width = config.embedding.size
        self.decoder = Decoder(config.decoder, config.attention, width, self.encoder.spec, config.fusion)
        self.output = config.output.build(self.target_embedding, config.decoder.readout_width, target)
        self.language_model: FrozenLanguageModel | None = None
        if isinstance(config.fusion, DeepFusion):
            self.language_model = FrozenLanguageModel(config.fusion.model, target)
            self.requires_grad_(False)
            for weight in (*self.decoder.readout_weights, *self.output.parameters()):
                weight.requires_grad_(True)

    def initialise(self, seed: int) -> None:
        """Fill every weight, but those of a language model, with its initial value under this seed."""
        source, start = generator(seed, "initialise"), self.config.initializer
        self.target_embedding.initialise(start, source)
        if not self.config.embedding.shared:
            self.source_embedding.initialise(start, source)
        for layer in self.encoder, self.decoder, self.output:
            layer.initialise(start, source)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of the targets given the inputs; the alignment loss is its penalty; nothing is carried."""
        targets = batch.target_ids
        memory, initial = self.encode(batch)
        ids_TB = targets.ids_BT.T
        shifted_TB = torch.cat([torch.full_like(ids_TB[:1], self.symbols.bos), ids_TB[:-1]])
        sampling = self.config.decoder.scheduled_sampling
        if self.training and not isinstance(sampling, NoSampling):
            shifted_TB = self._partly_its_own(shifted_TB, memory, initial, sampling)
        x_TBD = self.target_embedding.vectors(shifted_TB, "target")
        language_TBL = self.language_model(shifted_TB, targets.lengths_B) if self.language_model else None
        states_TBH, weights_TBS = self.decoder(x_TBD, targets.lengths_B, initial, memory, language_TBL)
        loss = self.output.loss(states_TBH, targets, batch.supervision)
        return self._supervised(loss, weights_TBS, batch.supervision), {}

    def _supervised(self, loss: Loss, weights_TBS: Tensor, supervision: Supervision) -> Loss:
        """The loss, with the alignment loss of attention as its penalty where there are alignments."""
        alignments_BTS, weights_B = supervision.alignments_BTS, supervision.weights_B
        if alignments_BTS is None:
            return loss
        assert not isinstance(self.config.guided_alignment, NoGuide)
        if weights_B is not None:
            alignments_BTS = alignments_BTS * weights_B[:, None, None]
        penalty = self.config.guided_alignment.weight * guidance(weights_TBS, alignments_BTS.transpose(0, 1))
        return replace(loss, penalty=penalty)

    def encode(self, batch: Batch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The memory that the decoder attends to, and its initial state; both by signal, B in front."""
        source = batch.input_ids
        x_SBD = self.source_embedding.vectors(source.ids_BT.T, "source")
        known_B = batch.target_ids.lengths_B if self.training and batch.targets is not None else None
        encoded = self.encoder(x_SBD.transpose(0, 1), source.lengths_B, known_B)
        return self.decoder.prepare(encoded, source.lengths_B), self.decoder.first(encoded, source.lengths_B)

    def initial_state(self, decoder: dict[str, Tensor]) -> "TranslatorState":
        """The initial state of a row for each sentence, from that of the decoder."""
        sentences = len(next(iter(decoder.values())))
        return TranslatorState(decoder, self.language_model.first(sentences) if self.language_model else {})

    @torch.no_grad()
    def _partly_its_own(
        self, true_TB: Tensor, memory: dict[str, Tensor], initial: dict[str, Tensor], sampling: Sampling
    ) -> Tensor:
        """Target words to read, some of them predicted by the decoder itself."""
        stepper, state = self.stepper(), self.initial_state(initial)

        def advance(ids_B: Tensor) -> Tensor:
            nonlocal state
            step = stepper.advance(TranslatorMemory(memory, None), state, ids_B)
            state = step.state
            return step.log_probs_NV

        def drawn(what: str) -> Tensor:
            return uniform_draws(f"scheduled sampling.{what}", true_TB.numel(), true_TB.device).view(true_TB.shape)

        kept_TB = drawn("kept") < sampling.chance(present_update())
        read_TB = mixed(true_TB, advance, kept_TB, drawn("words") if sampling.draw == "sample" else None)
        self.train()
        return read_TB.clone()  # an ordinary tensor again, which autograd may save

    @torch.no_grad()
    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """The parts of the steps of encoder, language model and decoder: see ``protocols.Programmed``."""
        self.eval()
        sentence = pad([[self.symbols.unk, self.symbols.eos]])
        memory, first = self.encode(Batch(sentence, None, torch.tensor([0]), torch.tensor([False])))
        bos_11 = torch.tensor([[self.symbols.bos]])
        of_language, language_11L = dict[str, Sequence[PartDescription]](), None
        if self.language_model:
            of_language["language model"] = self.language_model.recurrence.described()
            language_11L = self.language_model(bos_11, torch.tensor([1]))
        of_decoder = self.decoder.described(self.target_embedding.vectors(bos_11), first, memory, language_11L)
        return {**self.encoder.programs(), **of_language, "decoder": of_decoder}

    def stepper(self) -> "TranslatorStepper":
        """The translator one token at a time; puts it into evaluation mode."""
        self.eval()
        return TranslatorStepper(self)


class TranslatorState(NamedTuple):
    """The state of N rows: N x width by carried signal."""

    signals: dict[str, Tensor]
    """Of the decoder."""
    language: dict[str, Tensor]
    """Of the language model of deep fusion, where there is one."""


class TranslatorMemory(NamedTuple):
    """What all rows of a sentence share."""

    encoded: dict[str, Tensor]
    """What the decoder attends to, by signal, B in front."""
    shortlist: Shortlist | None
    """The candidate words of the sentences; None for all words."""


class TranslatorStepper:
    """A translator for search: see ``protocols.Stepper``."""

    def __init__(self, model: Translator) -> None:
        """The model is read, never changed."""
        self._model = model
        self.size, _, self.unk, self.bos, self.eos = model.symbols

    @torch.inference_mode()
    def start(self, batch: Batch) -> SearchStart:
        """Encode the sentences; ConfigError for candidates where the output is no softmax over words."""
        batch = batch.to(device_of(self._model))
        encoded, initial = self._model.encode(batch)
        candidates = batch.constraints.candidates
        memory = TranslatorMemory(encoded, self._model.output.shortlist(candidates) if candidates else None)
        lengths_B = batch.input_ids.lengths_B.to(next(iter(initial.values())).device)
        return SearchStart(memory, self._model.initial_state(initial), lengths_B)

    @torch.inference_mode()
    def advance(self, memory: TranslatorMemory, state: TranslatorState, ids_N: Tensor) -> Step:
        """One token of every row."""
        encoded, shortlist = memory
        sentences = len(next(iter(encoded.values())))

        def by_sentence(rows_NW: Tensor) -> Tensor:
            return rows_NW.view(sentences, -1, rows_NW.shape[-1]).transpose(0, 1)

        def by_row(block_KBW: Tensor) -> Tensor:
            return block_KBW.transpose(0, 1).flatten(0, 1)

        x_KBD = by_sentence(self._model.target_embedding.vectors(ids_N))
        before = {name: by_sentence(rows) for name, rows in state.signals.items()}
        language, language_KBL = state.language, None
        if self._model.language_model:
            language_NL, language = self._model.language_model.advance(ids_N, language)
            language_KBL = by_sentence(language_NL)
        o_KBH, weights_KBS, after = self._model.decoder.advance(x_KBD, before, encoded, language_KBL)
        o_NH = by_row(o_KBH)
        log_probs_NV = shortlist.log_probs(o_NH) if shortlist else self._model.output.log_probs(o_NH)
        weights_NS = None if weights_KBS is None else by_row(weights_KBS)
        signals = {name: by_row(block) for name, block in after.items()}
        return Step(log_probs_NV, weights_NS, TranslatorState(signals, language))

    def select(self, state: TranslatorState, rows_N: Tensor) -> TranslatorState:
        return TranslatorState(*({name: rows[rows_N] for name, rows in carried.items()} for carried in state))

    def keep(self, memory: TranslatorMemory, sentences_B: Tensor) -> TranslatorMemory:
        encoded = {name: tensor[sentences_B] for name, tensor in memory.encoded.items()}
        return TranslatorMemory(encoded, memory.shortlist.keep(sentences_B) if memory.shortlist else None)
