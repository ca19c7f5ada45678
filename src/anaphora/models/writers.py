"""Networks that write a text over what is no text: an encoder of their inputs, and a decoder of tokens.

describer     a grid of feature vectors in, a sentence out, by a decoder that attends to the grid. With one vector in
place of a grid and attention "none" this is the captioner of Vinyals et al. (2015); with attention,
the decoder's initial state from the mean annotation, a gate on the context and the doubly stochastic
penalty, that of Xu et al. (2015) with soft attention
transducer    a real-valued sequence in, a text out; the handwriting of a text, its text
"""

from typing import ClassVar

import torch
from torch import Tensor

from anaphora.batch import Batch, Grid, Values
from anaphora.config import Config
from anaphora.errors import ShapeError
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.values import ValuesConfig
from anaphora.nn.attention import AnyAttention, AttentionConfig
from anaphora.nn.decoder import CONFLICTS, Decoder, DecoderConfig
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput
from anaphora.nn.encoders.grid import GridEncoderConfig
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.fusion import NoFusion
from anaphora.nn.outputs import AnyOutput
from anaphora.nn.outputs.full import NO_SOURCE_WORDS, Full
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.options import Conflict
from anaphora.protocols import VocabularyInfo


class WriterConfig(Config):
    """The tables that every network has which writes a text over what is no text."""

    embedding: EmbeddingConfig = EmbeddingConfig()
    """Word vectors."""
    encoder: Config
    """Encoder."""
    decoder: DecoderConfig = DecoderConfig()
    """Decoder."""
    attention: AnyAttention = AttentionConfig()
    """Attention."""
    output: AnyOutput = Full()
    """Output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (*CONFLICTS, NO_SOURCE_WORDS)


class Writer(EncoderDecoder):
    """An encoder of what is no text, and a decoder with the only word vectors; a subclass encodes its inputs."""

    language_model = None

    def __init__(self, config: WriterConfig, encoder: Encoder, text: VocabularyInfo) -> None:
        """The network with all weights 0; ConfigError where the options do not go together."""
        super().__init__()
        self.config, self.symbols, self.attention = config, text, config.attention
        self.embedding = Embedding(config.embedding, text.size, "words")
        self.encoder = encoder
        self.decoder = Decoder(config.decoder, config.attention, config.embedding.size, encoder.spec, NoFusion())
        self.output = config.output.build(self.embedding, config.decoder.readout_width, text)

    @property
    def written(self) -> Embedding:
        """The only embedding."""
        return self.embedding


class DescriberConfig(WriterConfig):
    """The tables of a describer."""

    encoder: GridEncoderConfig = GridEncoderConfig()
    """Encoder of the grid."""


class Describer(Writer):
    """An encoder of grids, and a decoder."""

    config: DescriberConfig

    def __init__(self, config: DescriberConfig, text: VocabularyInfo) -> None:
        """The network with all weights 0; ConfigError where the options do not go together."""
        super().__init__(config, config.encoder.build(), text)

    def annotate(self, batch: Batch) -> tuple[EncoderOutput, Tensor]:
        """Encode the grids; ShapeError for inputs that are none, or of another size."""
        grid, config = batch.inputs, self.config.encoder
        wanted = (config.rows * config.columns, config.width)
        if not isinstance(grid, Grid) or tuple(grid.values_BSD.shape[1:]) != wanted:
            raise ShapeError(f"This describer needs a batch whose inputs are Grids of {wanted[0]} x {wanted[1]}.")
        lengths_B = torch.full((batch.size,), wanted[0])
        return self.encoder(grid.values_BSD, lengths_B), lengths_B


class VectorTransducerConfig(WriterConfig):
    """The tables of a transducer of vectors."""

    values: ValuesConfig = ValuesConfig()
    """The vectors of the data."""
    embedding: EmbeddingConfig = EmbeddingConfig()
    """Vectors of the symbols that are written."""
    encoder: EncoderConfig = EncoderConfig()
    """Encoder of the vectors."""


class VectorTransducer(Writer):
    """A recurrent encoder of vectors and their pen flags, and a decoder."""

    def __init__(self, config: VectorTransducerConfig, target: VocabularyInfo) -> None:
        """The network with all weights 0; ConfigError where the options do not go together."""
        values = config.values.outline()
        self._width = values.size + values.pen
        super().__init__(config, config.encoder.build(self._width), target)

    def annotate(self, batch: Batch) -> tuple[EncoderOutput, Tensor]:
        """Encode the vectors; ShapeError for inputs that are none, or of another width."""
        rows = batch.inputs
        if not isinstance(rows, Values) or rows.values_BTD.shape[2] != self._width:
            raise ShapeError(f"This transducer needs a batch whose inputs are Values of width {self._width}.")
        return self.encoder(rows.values_BTD, rows.lengths_B), rows.lengths_B
