"""Taggers: words and their characters or vectors, a recurrent encoder, and an output over tags for each step.

(Huang, Xu and Yu 2015; Lample et al. 2016; Ma and Hovy 2016.)
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from anaphora.batch import Batch, Ids, Items, SpeltIds
from anaphora.config import Config, by_kind_or
from anaphora.errors import ShapeError
from anaphora.models.sequence_network import SequenceNetwork
from anaphora.nn.device import device_of
from anaphora.nn.embedding import Embedding, EmbeddingConfig, drop_words
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.outputs.tags import AnyTagOutput, Softmax
from anaphora.nn.spelling import CharacterEncoder, CharactersConfig
from anaphora.nn.vectors import VectorScale, VectorsConfig
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.protocols import Carry, Loss, VocabularyInfo


class NoCharacters(Config):
    """Words alone: those outside of the vocabulary are all alike."""

    kind: Literal["none"] = "none"


class StepsConfig(Config):
    """The tables of every tagger."""

    spans: Literal["auto", "none", "iob1", "iob2", "bioes"] = "auto"
    """Encoding of spans as tags, for span F1, and for the transitions that a CRF bars; "auto": by the training tags."""
    encoder: EncoderConfig = EncoderConfig()
    """Recurrent encoder."""
    output: AnyTagOutput = Softmax()
    """Output layer: "softmax", "sigmoid" for several labels a step, or "crf"."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""


class TaggerConfig(StepsConfig):
    """The tables of a tagger of tokens."""

    embedding: EmbeddingConfig = EmbeddingConfig(size=100)
    """Word vectors."""
    characters: Annotated[CharactersConfig | NoCharacters, Field(discriminator="kind"), by_kind_or("character-cnn")] = (
        CharactersConfig()
    )
    """Vectors from the characters of a word, beside its own; "none" for words alone."""


class VectorTaggerConfig(StepsConfig):
    """The tables of a tagger of vectors."""

    vectors: VectorsConfig = VectorsConfig()
    """Vectors that are read."""


class StepTagger(SequenceNetwork):
    """An encoder, and an output over tags for each step."""

    config: StepsConfig

    def _build(self, width: int, names: Sequence[str]) -> None:
        """Encoder and output for vectors of ``width``; ``names`` are those of the tags."""
        spans = self.config.spans
        encoding = None if spans == "auto" or spans == "none" else spans
        self.encoder = self.config.encoder.build(width)
        self.output = self.config.output.build(self.encoder.spec.width, names, encoding)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a batch, one prediction a step; nothing is carried."""
        states_TBM, _ = self._states(batch)
        return self.output.loss(states_TBM, batch.targets, batch.supervision), {}

    def predict(self, batch: Batch) -> Items:
        """Return the tags of each step, in the form of the targets; puts the model into evaluation mode."""
        self.eval()
        with torch.inference_mode():
            return self.output.predict(*self._states(batch.to(device_of(self))))

    def _states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the states that tags are predicted from, T x B x M, and the lengths of the rows."""
        encoded, rows = self.encode(batch)
        return encoded.annotations_BSM.transpose(0, 1), rows.lengths_B


class Tagger(StepTagger):
    """Tagger of tokens: embeddings of words and their characters, an encoder, and an output over tags."""

    config: TaggerConfig

    def __init__(
        self,
        config: TaggerConfig,
        text: VocabularyInfo,
        characters: VocabularyInfo,
        tags: VocabularyInfo,
        words: Sequence[str] = (),
        letters: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> None:
        """The network with all weights 0; ``names`` are those of the tags.

        Raises ConfigError where the options do not go together, or not with the tags.
        """
        super().__init__()
        self.config, self.symbols = config, text
        self.embedding = Embedding(config.embedding, text.size, "text")
        width = config.embedding.size
        self.characters: CharacterEncoder | None = None
        if isinstance(config.characters, CharactersConfig):
            self.characters = CharacterEncoder(config.characters, characters.size)
            width += config.characters.size
        self._build(width, names)

    def vectors(self, batch: Batch) -> tuple[Tensor, Ids]:
        """Return the vectors of the words and of their characters; ShapeError for a batch of anything else."""
        ids = batch.inputs
        if not isinstance(ids, SpeltIds):
            raise ShapeError(f"A tagger needs a batch whose inputs are SpeltIds, but they are {type(ids).__name__}.")
        x_TBD = self.embedding.vectors(ids.ids_BT.T)
        if self.characters is not None:
            vectors_NF = self.characters.encode(ids.characters_NL, ids.lengths_N)
            spelt_TBF = functional.embedding(ids.words_BT.T, vectors_NF)
            dropout, purpose = self.characters.config.dropout, "embedding.characters"
            spelt_TBF = drop_words(spelt_TBF, ids.words_BT.T, dropout, purpose, self.training)
            x_TBD = torch.cat([x_TBD, spelt_TBF], 2)
        return x_TBD.transpose(0, 1), ids


class VectorTagger(StepTagger):
    """A tagger of sequences of real-valued vectors."""

    config: VectorTaggerConfig

    def __init__(self, config: VectorTaggerConfig, tags: VocabularyInfo, names: Sequence[str] = ()) -> None:
        """The network with all weights 0; ``names`` are those of the tags."""
        super().__init__()
        self.config = config
        self.scale = VectorScale(config.vectors)
        self._build(config.vectors.size, names)
