"""The convolutional sentence model as an encoder (Kalchbrenner and Blunsom 2013, section 3.2): one vector is left."""

from typing import Literal

from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.convolution import convolution
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec, summary_only
from anaphora.nn.weights import Matrix, Weights
from anaphora.options import MAX_LENGTH


class ConvolutionConfig(Config):
    """An encoder that folds a sentence by wider and wider kernels; its vector is as wide as a word's."""

    kind: Literal["convolution"]
    max_kernel: int = Field(7, ge=2, le=MAX_LENGTH)
    """Columns of the widest kernel; those of 2 to n columns reach n (n + 1) / 2 units, and the widest is applied again
    where a sentence is longer."""

    def build(self, width: int) -> Encoder:
        """Return the encoder over word vectors of ``width``."""
        return ConvolutionEncoder(self, width)


class ConvolutionEncoder(Encoder):
    """Kernels K^i and L^i, as the parts ``fold<i>`` and ``close<i>``; each row is its own filter."""

    def __init__(self, config: ConvolutionConfig, width: int) -> None:
        """``width`` of the embeddings."""
        super().__init__()
        self.config, self.spec = config, EncoderSpec(width, width, 1, ("h",), False)
        kernels = {f"fold{columns}.kernel": columns for columns in range(2, config.max_kernel + 1)}
        kernels |= {f"close{columns}.kernel": columns for columns in range(1, config.max_kernel + 1)}
        self.weights = Weights({name: Matrix(width, columns, blocks=width) for name, columns in kernels.items()})

    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Return one vector of each sentence."""
        kernels = {name.removesuffix(".kernel"): kernel for name, kernel in self.weights.tensors().items()}
        return summary_only(convolution(x_BSD.transpose(0, 1), kernels, self.config.max_kernel, lengths_B))
