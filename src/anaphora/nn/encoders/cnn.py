"""Convolutions of several widths over the words of a text (Kim 2014): each filter sees a word and its neighbours.

    h_t = [relu(W_w [x_{t-l}; ..; x_{t-l+w-1}] + b_w) for each width w],  l = (w - 1) // 2

Past both ends of the text the vectors are 0.
"""

from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from anaphora.config import Config
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec, annotations_only, open_positions
from anaphora.nn.weights import Weights, project, projection_matrices
from anaphora.options import MAX_LENGTH, MAX_UNITS, Conflict

Width = Annotated[int, Field(ge=1, le=MAX_LENGTH)]


class CnnConfig(Config):
    """Convolutions over words, as wide as n-grams."""

    kind: Literal["cnn"]
    size: int = Field(100, ge=1, le=MAX_UNITS)
    """Filters of each width."""
    widths: tuple[Width, ...] = Field((2, 3, 4), min_length=1)
    """Words that a filter sees at a time, each width once."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda table: len(set(table.widths)) < len(table.widths),
            "{at}widths names a width twice; raise {at}size for more filters",
        ),
    )

    def build(self, width: int) -> Encoder:
        """Return the encoder over word vectors of ``width``."""
        return CnnEncoder(self, width)


class CnnEncoder(Encoder):
    """W_w and b_w are the part ``width<w>``."""

    def __init__(self, config: CnnConfig, width: int) -> None:
        """``width`` of the word vectors."""
        super().__init__()
        size = len(config.widths) * config.size
        self.config, self.spec = config, EncoderSpec(size, size, 1, ("h",), True)
        matrices = [projection_matrices(f"width{w}", config.size, w * width, True) for w in config.widths]
        self.weights = Weights({name: matrix for part in matrices for name, matrix in part.items()})

    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Return an annotation for each word; the sentence encoding is the last."""
        x_BSD = x_BSD.masked_fill(~open_positions(x_BSD, lengths_B), 0)
        weights = self.weights.tensors()
        sums = [project(weights, f"width{w}", _windows(x_BSD, w)) for w in self.config.widths]
        return annotations_only(torch.relu(torch.cat(sums, -1)), lengths_B)


def _windows(x_BSD: Tensor, width: int) -> Tensor:
    """Return the vectors that each word's filters see, one after another: B x S x width D."""
    left, steps = (width - 1) // 2, x_BSD.shape[1]
    padded = functional.pad(x_BSD, (0, 0, left, width - 1 - left))
    return torch.cat([padded[:, shift : shift + steps] for shift in range(width)], -1)
