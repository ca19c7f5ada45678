"""Describers: a grid of feature vectors in, a sentence out, by a decoder that attends to the grid.

With one vector in place of a grid and attention "none" this is the captioner of Vinyals et al. (2015); with attention,
the decoder's initial state from the mean annotation, a gate on the context and the doubly stochastic penalty, that of
Xu et al. (2015) with soft attention.
"""

import torch
from torch import Tensor

from anaphora.batch import Batch, Grid
from anaphora.errors import ShapeError
from anaphora.models.encoder_decoder import Writer, WriterConfig
from anaphora.nn.encoders.encoder import Encoded
from anaphora.nn.encoders.grid import GridEncoderConfig
from anaphora.protocols import VocabularyInfo


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
