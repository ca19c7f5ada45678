"""Describers: a grid of feature vectors in, a sentence out, by a decoder that attends to the grid.

With one vector in place of a grid and attention "none" this is the captioner of Vinyals et al. (2015); with attention,
the decoder's initial state from the mean annotation, a gate on the context and the doubly stochastic penalty, that of
Xu et al. (2015) with soft attention.
"""

from typing import ClassVar

import torch
from torch import Tensor

from anaphora.batch import Batch, Grid
from anaphora.config import Config, Conflict
from anaphora.errors import ShapeError
from anaphora.models.writer import Writer
from anaphora.nn.attention import AnyAttention, AttentionConfig
from anaphora.nn.decoder import CONFLICTS, DecoderConfig
from anaphora.nn.embedding import EmbeddingConfig
from anaphora.nn.encoders.encoder import Encoded
from anaphora.nn.encoders.grid import GridEncoderConfig
from anaphora.nn.outputs import AnyOutput, Full
from anaphora.nn.weights import AnyStart, Orthogonal
from anaphora.protocols import VocabularyInfo


class DescriberConfig(Config):
    """The tables of a describer."""

    embedding: EmbeddingConfig = EmbeddingConfig()
    """Word vectors."""
    encoder: GridEncoderConfig = GridEncoderConfig()
    """Encoder of the grid."""
    decoder: DecoderConfig = DecoderConfig()
    """Decoder."""
    attention: AnyAttention = AttentionConfig()
    """Attention."""
    output: AnyOutput = Full()
    """Output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    conflicts: ClassVar[tuple[Conflict, ...]] = CONFLICTS


class Describer(Writer):
    """An encoder of grids, and a decoder."""

    def __init__(self, config: DescriberConfig, text: VocabularyInfo) -> None:
        """The network with all weights 0; ConfigError where the options do not go together."""
        super().__init__(config, config.encoder.build(), text)
        self.config = config

    def encoded(self, batch: Batch) -> tuple[Encoded, Tensor]:
        """Of the grids; ShapeError for inputs that are none, or of another size."""
        grid, config = batch.inputs, self.config.encoder
        wanted = (config.rows * config.columns, config.width)
        if not isinstance(grid, Grid) or tuple(grid.values_BSD.shape[1:]) != wanted:
            raise ShapeError(f"This describer needs a batch whose inputs are Grids of {wanted[0]} x {wanted[1]}.")
        lengths_B = torch.full((batch.size,), wanted[0])
        return self.encoder(grid.values_BSD, lengths_B), lengths_B

    def example(self) -> Batch:
        """Return a grid of zeros."""
        config = self.config.encoder
        grid = Grid(torch.zeros(1, config.rows * config.columns, config.width))
        return Batch.of_rows([0], grid)
