"""No encoder: the vectors of a sequence are its annotations, as in bags of words (Joulin et al. 2017)."""

from typing import Literal

from torch import Tensor

from anaphora.config import Config
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec, annotations_only
from anaphora.nn.weights import Weights


class NoEncoderConfig(Config):
    """The vectors as they are, for pooling alone; with one vector in a sequence, a linear model of it."""

    kind: Literal["none"] = "none"

    def build(self, width: int) -> Encoder:
        """Return the identity on vectors of ``width``."""
        return NoEncoder(width)


class NoEncoder(Encoder):
    """Passes vectors on; the sentence encoding is the last one."""

    def __init__(self, width: int) -> None:
        """``width`` of the vectors."""
        super().__init__()
        self.spec = EncoderSpec(width, width, 1, ("h",), True)
        self.weights = Weights({})

    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Return the vectors, zero past the end of a row."""
        return annotations_only(x_BSD, lengths_B)
