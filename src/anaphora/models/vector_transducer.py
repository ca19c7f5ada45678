"""Transducers of vectors: a real-valued sequence in, a text out; the handwriting of a text, its text."""

import torch
from torch import Tensor

from anaphora.batch import Batch, Values
from anaphora.errors import ShapeError
from anaphora.models.encoder_decoder import Writer, WriterConfig
from anaphora.models.values import ValuesConfig
from anaphora.nn.embedding import EmbeddingConfig
from anaphora.nn.encoders.encoder import Encoded
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.protocols import VocabularyInfo


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
        values = config.values.outlined()
        self._width = values.size + values.pen
        super().__init__(config, config.encoder.build(self._width), target)

    def encoded(self, batch: Batch) -> tuple[Encoded, Tensor]:
        """Of the vectors; ShapeError for inputs that are none, or of another width."""
        rows = batch.inputs
        if not isinstance(rows, Values) or rows.values_BTD.shape[2] != self._width:
            raise ShapeError(f"This transducer needs a batch whose inputs are Values of width {self._width}.")
        return self.encoder(rows.values_BTD, rows.lengths_B), rows.lengths_B

    def example(self) -> Batch:
        """Return a vector of zeros."""
        values = Values(torch.zeros(1, 1, self._width), torch.tensor([1]))
        return Batch.of_rows([0], values)
