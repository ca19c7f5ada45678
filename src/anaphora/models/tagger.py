"""Taggers: words and their characters, a recurrent encoder, and an output over tags for each token.

(Huang, Xu and Yu 2015; Lample et al. 2016; Ma and Hovy 2016.)
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from anaphora.batch import Batch, Items, SpeltIds
from anaphora.config import Config, by_kind_or
from anaphora.errors import ShapeError
from anaphora.kernels.description import PartDescription
from anaphora.nn.embedding import Embedding, EmbeddingConfig, words_dropped
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.outputs.tags import AnyTagOutput, Softmax
from anaphora.nn.randomness import generator
from anaphora.nn.spelling import CharacterEncoder, CharactersConfig
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.protocols import Carry, Loss, VocabularyInfo


class NoCharacters(Config):
    """Words alone: those outside of the vocabulary are all alike."""

    kind: Literal["none"] = "none"


class TaggerConfig(Config):
    """The tables of a tagger."""

    spans: Literal["auto", "none", "iob1", "iob2", "bioes"] = "auto"
    """Encoding of spans as tags, for span F1, and for the transitions that a CRF bars; "auto": by the training tags."""
    embedding: EmbeddingConfig = EmbeddingConfig(size=100)
    """Word vectors."""
    characters: Annotated[CharactersConfig | NoCharacters, Field(discriminator="kind"), by_kind_or("character-cnn")] = (
        CharactersConfig()
    )
    """Vectors from the characters of a word, beside its own; "none" for words alone."""
    encoder: EncoderConfig = EncoderConfig()
    """Recurrent encoder."""
    output: AnyTagOutput = Softmax()
    """Output layer: "softmax", "sigmoid" for several labels a token, or "crf"."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""


class Tagger(nn.Module):
    """Embeddings of words and characters, an encoder, and an output over tags."""

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
        self.encoder = config.encoder.build(width)
        encoding = None if config.spans == "auto" or config.spans == "none" else config.spans
        self.output = config.output.build(self.encoder.width, names, encoding)

    def initialise(self, seed: int) -> None:
        """Fill every weight with its initial value under this seed."""
        source = generator(seed, "initialise")
        for layer in self.embedding, self.characters, self.encoder, self.output:
            if layer is not None:
                layer.initialise(self.config.initializer, source)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """The loss of a batch, one prediction a token; nothing is carried on.

        Rows of the batch's carry mask start from the state in ``carry``, as for ``RecurrentEncoder``.
        """
        return self.output.loss(self._states(batch, carry), batch.targets, batch.supervision), {}

    def predict(self, batch: Batch) -> Items:
        """The tags of each token: see ``protocols.Predicts``."""
        self.eval()
        with torch.inference_mode():
            return self.output.predict(self._states(batch), batch.input_ids.lengths_B)

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """The parts of each step of the encoder; puts the model into evaluation mode."""
        self.eval()
        return self.encoder.programs()

    def _states(self, batch: Batch, carry: Carry | None = None) -> Tensor:
        """What the tags of each token are predicted from, T x B x M."""
        ids = batch.inputs
        if not isinstance(ids, SpeltIds):
            raise ShapeError(f"A tagger needs a batch whose inputs are SpeltIds, but they are {type(ids).__name__}.")
        x_TBD = self.embedding.vectors(ids.ids_BT.T)
        if self.characters is not None:
            vectors_NF = self.characters.encoded(ids.characters_NL, ids.lengths_N)
            spelt_TBF = functional.embedding(ids.words_BT.T, vectors_NF)
            if self.training:
                dropout = self.characters.config.dropout
                spelt_TBF = words_dropped(spelt_TBF, ids.words_BT.T, dropout, "embedding.characters")
            x_TBD = torch.cat([x_TBD, spelt_TBF], 2)
        encoded = self.encoder(x_TBD.transpose(0, 1), ids.lengths_B, None, carry, batch.carry_mask_B)
        annotations_SBM: Tensor = encoded.annotations_BSM.transpose(0, 1)
        return annotations_SBM
