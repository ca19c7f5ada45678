"""The encoder of a grid: one layer for each of its vectors, which stand where they stood.

    a_s = f(W x_s + b) (+ p_s)

f is tanh, the rectifier, or nothing; p_s is learnt for each position, so that what is seen is the same wherever it
stands. Without a layer the vectors themselves take the place of f (Xu et al. 2015). The summary is the mean of the
annotations: of a single vector, that vector's.
"""

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.pooling import mean_pool
from anaphora.nn.dropout import Rate
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec
from anaphora.nn.randomness import apply_dropout
from anaphora.nn.weights import Matrix, Start, Weights, project, projection_matrices
from anaphora.options import MAX_UNITS, SET, Conflict


class GridEncoderConfig(Config):
    """The encoder of a grid of vectors."""

    rows: int = Field(0, ge=0, le=MAX_UNITS)
    """Rows of the grid; 0: as the data has them."""
    columns: int = Field(0, ge=0, le=MAX_UNITS)
    """Columns of the grid; 0: as the data has them."""
    width: int = Field(0, ge=0, le=MAX_UNITS)
    """Numbers of a feature vector; 0: as the data has them."""
    size: int = Field(256, ge=1, le=MAX_UNITS)
    """Width of an annotation."""
    layer: Literal["linear", "tanh", "relu", "none"] = "tanh"
    """Layer between features and annotations; "none" attends to the features themselves."""
    positions: bool = True
    """True if a vector that is learnt for each position is added to its annotation."""
    dropout: Rate = 0.0
    """Dropout probability of annotations."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"size": SET, "layer": "none"},
            'annotations are as wide as features; leave it out, or set encoder.layer = "linear"',
            written=True,
        ),
    )

    def build(self) -> "GridEncoder":
        """Return the encoder; rows, columns and width are known by then."""
        return GridEncoder(self)


class GridEncoder(Encoder):
    """One layer over all positions alike."""

    def __init__(self, config: GridEncoderConfig) -> None:
        """The encoder with all weights 0."""
        super().__init__()
        self.config = config
        width = config.width if config.layer == "none" else config.size
        self.spec = EncoderSpec(width, width, 1, ("h",), True)
        matrices: dict[str, Matrix] = {}
        if config.layer != "none":
            matrices |= projection_matrices("grid", width, config.width, True)
        if config.positions:
            matrices["positions.weight"] = Matrix(config.rows * config.columns, width)
        self.weights = Weights(matrices)

    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Return an annotation for each position; every row has them all."""
        config, weights, a_BSM = self.config, self.weights.tensors(), x_BSD
        if config.layer != "none":
            a_BSM = project(weights, "grid", a_BSM)
        if config.layer in ("tanh", "relu"):
            a_BSM = torch.tanh(a_BSM) if config.layer == "tanh" else torch.relu(a_BSM)
        if config.positions:
            a_BSM = a_BSM + weights["positions.weight"]
        a_BSM = apply_dropout(a_BSM, "encoder.grid", config.dropout, self.training)
        every_BS = torch.ones(a_BSM.shape[:2], dtype=torch.bool, device=a_BSM.device)
        return EncoderOutput(a_BSM, [{"h": mean_pool(a_BSM, every_BS)}])

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from: positions are a table, as word vectors are."""
        super().initialise(start, generator)
        if self.config.positions:
            with torch.no_grad():
                start.fill_table(self.weights.tensors()["positions.weight"], generator)
