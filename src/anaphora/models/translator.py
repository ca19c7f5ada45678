"""Encoder-decoder translators.

With ``encoder.bidirectional``, an LSTM in both, attention "general", input feeding and no biases this is exactly the
recipe ``bilstm-attention``; other options give the systems of Bahdanau et al. (2015) and Luong et al.
(2015), and without attention to those of Kalchbrenner and Blunsom (2013), Cho et al. (2014) and Sutskever et al.
(2014).
"""

from collections.abc import Mapping
from functools import reduce
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.batch import Batch, features_of
from anaphora.config import ByKind, Config
from anaphora.errors import ConfigError
from anaphora.kernels.penalties import guidance
from anaphora.kernels.word_tables import Words, rearrange
from anaphora.models.alignment.aligner import AlignerConfig
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.nn.attention import AnyAttention, AttentionConfig
from anaphora.nn.decoder import CONFLICTS, Decoder, DecoderConfig
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.nn.encoders import AnyEncoder
from anaphora.nn.encoders.encoder import EncoderOutput
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.fusion import AnyFusion, DeepFusion, FrozenLanguageModel, NoFusion
from anaphora.nn.outputs import AnyCopyingOutput
from anaphora.nn.outputs.full import Full
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.options import Conflict, other_than
from anaphora.protocols import VocabularyInfo


class TranslationEmbeddingConfig(TableConfig):
    """Word vectors of source and target."""

    shared: bool = False
    """Share one table between both sides (which must share one vocabulary)."""
    source_vectors: str = "none"
    """File of pretrained source word vectors, or run of a language model; words without one, or all with "none", start
    at random."""
    target_vectors: str = "none"
    """The same for the target; in a shared table, for the words without a vector in ``source_vectors``."""

    @property
    def files(self) -> Mapping[str, str]:
        named = {"source": self.source_vectors, "target": self.target_vectors}
        return {side: file for side, file in named.items() if file != "none"}


class NoGuide(Config):
    """No supervision."""

    kind: Literal["none"] = "none"
    """Source of the word alignments."""


class LearntGuide(Config):
    """Alignments between the translator's own tokens, learnt by an aligner from the training split before training."""

    kind: Literal["learn"] = "learn"
    """Source of the word alignments."""
    weight: float = Field(0.5, gt=0)
    """Weight of the alignment loss beside the word loss (Chen et al. 2016)."""
    aligner: AlignerConfig = AlignerConfig()
    """The aligner."""


class GivenGuide(Config):
    """Alignments between the space-separated words of the training split, from a file."""

    kind: Literal["file"] = "file"
    """Source of the word alignments."""
    file: str
    """File in Pharaoh format, with a line for every line of the training files, skipped ones included."""
    weight: float = Field(0.5, gt=0)
    """Weight of the alignment loss beside the word loss (Chen et al. 2016)."""


AnyGuide = ByKind[NoGuide | LearntGuide | GivenGuide]
"""Alignment supervision of attention while a translator is trained: the ``[guided_alignment]`` table."""


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
    output: AnyCopyingOutput = Full()
    """Output layer."""
    fusion: AnyFusion = NoFusion()
    """Deep fusion with a language model; only the readout and the output layer are trained then."""
    guided_alignment: AnyGuide = NoGuide()
    """Alignment supervision of attention in training."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    @property
    def joint_option(self) -> tuple[str, ...]:
        """An option that needs one vocabulary for both sides, and another choice of it; empty for none."""
        if self.embedding.shared:
            return "embedding.shared", "embedding.shared = false"
        copies = self.output.kind == "pointer-generator"
        return ('output.kind = "pointer-generator"', 'output.kind = "full"') if copies else ()

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
        Conflict(
            {"guided_alignment.kind": other_than("none"), "attention.kind": "hard-monotonic"},
            'it learns from all alignments; set guided_alignment = "none"',
        ),
        Conflict(
            {"output.kind": "pointer-generator", "attention.kind": other_than("soft")},
            'it copies what soft attention looks at; set attention.kind = "soft", or output.kind = "full"',
        ),
        Conflict(
            {"output.kind": "pointer-generator", "fusion.kind": other_than("none")},
            'its gate would learn no more; set fusion.kind = "none"',
        ),
    )


class Translator(EncoderDecoder):
    """An encoder of sentences over word vectors, and a decoder."""

    config: TranslatorConfig

    def __init__(self, config: TranslatorConfig, source: VocabularyInfo, target: VocabularyInfo) -> None:
        """The network with all weights 0.

        Raises:
            ConfigError: the options do not go together, or not with the vocabularies.
        """
        super().__init__()
        if config.joint_option and source != target:
            raise ConfigError(
                f"{config.joint_option[0]} needs one vocabulary for both sides, but the source has {source.size} "
                f"tokens and the target {target.size}: set text.joint = true, or {config.joint_option[1]}."
            )
        self.config, self.symbols, self.attention = config, target, config.attention
        self.target_embedding = Embedding(config.embedding, target.size, "words")
        self.source_embedding = (
            self.target_embedding if config.embedding.shared else Embedding(config.embedding, source.size, "words")
        )
        self.encoder = config.encoder.build(config.embedding.size)
        width = config.embedding.size
        words = width if getattr(config.output, "lexical", False) else 0
        spec = self.encoder.spec._replace(words=words, features=width if source.features else 0)
        decoder = config.decoder, config.attention, width, spec, config.fusion
        self.decoder = Decoder(*decoder, copies=config.output.kind == "pointer-generator")
        self.output = config.output.build(self.target_embedding, config.decoder.readout_width, target)
        self.language_model: FrozenLanguageModel | None = None
        if isinstance(config.fusion, DeepFusion):
            self.language_model = FrozenLanguageModel(config.fusion.model, target)
            self.requires_grad_(False)
            for weight in (*self.decoder.readout_weights, *self.output.parameters()):
                weight.requires_grad_(True)

    def penalty(self, weights_TBS: Tensor | None, memory_lengths_B: Tensor, batch: Batch) -> Tensor | None:
        """Return the alignment loss of attention too, where there are alignments."""
        found = super().penalty(weights_TBS, memory_lengths_B, batch)
        alignments_BTS, weights_B = batch.supervision.alignments_BTS, batch.supervision.weights_B
        if alignments_BTS is None or weights_TBS is None:
            return found
        assert not isinstance(self.config.guided_alignment, NoGuide)
        if weights_B is not None:
            alignments_BTS = alignments_BTS * weights_B[:, None, None]
        alignment = self.config.guided_alignment.weight * guidance(weights_TBS, alignments_BTS.transpose(0, 1))
        return alignment if found is None else found + alignment

    def annotate(self, batch: Batch) -> tuple[EncoderOutput, Tensor]:
        """Encode the source sentences."""
        source = batch.input_ids
        read = self.source_embedding.read if self.encoder.reads_words else self.source_embedding.vectors
        x_BSD = rearrange(read(source.ids_BT.T, "source"), lambda block: block.transpose(0, 1))
        known_B = batch.target_ids.lengths_B if self.training and batch.targets is not None else None
        encoded = self.encoder(x_BSD, source.lengths_B, known_B)
        if self.decoder.spec.words:
            encoded = encoded._replace(words_BSD=x_BSD.vectors if isinstance(x_BSD, Words) else x_BSD)
        if self.decoder.spec.features:
            ids_FB = features_of(source).T
            x_FBD = self.source_embedding.vectors(ids_FB, "features") * (ids_FB != self.symbols.pad).unsqueeze(-1)
            encoded = encoded._replace(features_BD=reduce(torch.add, x_FBD.unbind()))
        return encoded, source.lengths_B

    @property
    def written(self) -> Embedding:
        """Embedding of target words."""
        return self.target_embedding
