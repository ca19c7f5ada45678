"""The convolutional n-gram model and its inverse as an encoder (Kalchbrenner and Blunsom 2013, section 4).

It gives no vector of the sentence, but a column for every unit of its translation, so the length of that comes first:

    E = cgm(e, n)                        the columns of the sentence model that stand for n-grams of the source
    F_j = tanh(T E_j)
    C = icgm(F, m)                       a column for each of the m units of the target

In training m is known. In search it is expected (``lengths.py``), and so it is in evaluation, which measures what
search will find; the last column goes on after it. Where E has more than m columns, the source is folded on until it
has not, so that every word of it takes part.
"""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.convolution import ngrams, unfold_columns
from anaphora.kernels.linear import linear
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec, summary_only
from anaphora.nn.lengths import Lengths
from anaphora.nn.weights import Matrix, Weights, projection_matrices
from anaphora.options import MAX_LAYERS, MAX_LENGTH


class NgramConvolutionConfig(Config):
    """An encoder that folds a sentence to its n-grams, and unfolds these to as many columns as its translation has."""

    kind: Literal["ngram-convolution"]
    folds: int = Field(2, ge=1, le=MAX_LAYERS)
    """Kernels, of 2 columns, 3, .., that are applied before n-grams are taken: after 1 they are of 2 units, after 2 of
    4, after 3 of 7."""
    max_kernel: int = Field(7, ge=2, le=MAX_LENGTH)
    """Columns of the widest kernel; it is applied again to a sentence that is still longer."""
    max_length: int = Field(100, ge=1, le=MAX_LENGTH)
    """Sources of up to this many tokens have an expected target length each; longer ones share a ratio."""

    def build(self, width: int) -> Encoder:
        """Return the encoder over word vectors of ``width``."""
        return NgramConvolutionEncoder(self, width)


class NgramConvolutionEncoder(Encoder):
    """K^i, L^i, J^i and H^i are ``fold<i>``, ``close<i>``, ``unfold<i>`` and ``open<i>``; T is ``translation``."""

    def __init__(self, config: NgramConvolutionConfig, width: int) -> None:
        """``width`` of the embeddings."""
        super().__init__()
        self.config, self.spec = config, EncoderSpec(width, width, 1, ("h",), False, columns=True)
        kernels = {
            f"{name}{columns}.kernel": Matrix(width, columns, blocks=width)
            for name, least in (("fold", 2), ("close", 1), ("unfold", 2), ("open", 1))
            for columns in range(least, config.max_kernel + 1)
        }
        self.weights = Weights(kernels | projection_matrices("translation", width, width, False))
        self.lengths = Lengths(config.max_length)

    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Return a column for every unit of the targets, the last one as often as it takes to make a rectangle."""
        wanted_B = self.lengths.expected_length(lengths_B) if targets_B is None else targets_B
        kernels = {name.removesuffix(".kernel"): weight for name, weight in self.weights.tensors().items()}
        translation_DD, widest = kernels.pop("translation.weight"), self.config.max_kernel
        grams = ngrams(x_BSD.transpose(0, 1), kernels, widest, self.config.folds, lengths_B, wanted_B)
        f_SBD = torch.tanh(linear(grams.x_SBD, translation_DD))
        columns_BTD = unfold_columns(f_SBD, kernels, widest, grams.lengths_B, wanted_B).transpose(0, 1)
        places_T = torch.arange(columns_BTD.shape[1], device=columns_BTD.device)
        last_B1 = wanted_B.to(places_T.device).unsqueeze(1) - 1
        return summary_only(columns_BTD.take_along_dim(places_T.minimum(last_B1).unsqueeze(-1), 1))
