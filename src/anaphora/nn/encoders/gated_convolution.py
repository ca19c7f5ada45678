"""The gated recursive convolution as an encoder (Cho et al. 2014b, section 2.2): one vector is left of a sentence."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.gated_convolution import CHOICES, gated_convolution
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec, summary_only
from anaphora.nn.weights import Matrix, Weights, project, projection_matrices
from anaphora.options import MAX_UNITS


class GatedConvolutionConfig(Config):
    """An encoder that folds neighbours together, level by level."""

    kind: Literal["gated-convolution"]
    size: int = Field(256, ge=1, le=MAX_UNITS)
    """Numbers of a position, and of the vector that is left."""
    bias: bool = True
    """True if projections have a bias."""

    def build(self, width: int) -> Encoder:
        """Return the encoder over word vectors of ``width``."""
        return GatedConvolutionEncoder(self, width)


class GatedConvolutionEncoder(Encoder):
    """h_j = U x_j, and ``kernels.gated_convolution`` over them.

    Weights: ``input`` is U, ``parent`` is [W_l; W_r] with the bias of what is new, ``choice`` is [G_l; G_r].
    """

    def __init__(self, config: GatedConvolutionConfig, width: int) -> None:
        """``width`` of the embeddings."""
        super().__init__()
        size = config.size
        self.config, self.spec = config, EncoderSpec(size, size, 1, ("h",), False)
        matrices = projection_matrices("input", size, width, config.bias)
        matrices |= projection_matrices("parent", 2 * size, size, False, 2)
        matrices |= projection_matrices("choice", 2 * CHOICES, size, False, 2)
        if config.bias:
            matrices |= {"parent.bias": Matrix(size), "choice.bias": Matrix(CHOICES)}
        self.weights = Weights(matrices)

    def forward(self, x_BSD: Tensor, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Return one vector of each sentence."""
        weights, x_SBD = self.weights.tensors(), x_BSD.transpose(0, 1)
        closed_SB = torch.arange(len(x_SBD), device=x_SBD.device).unsqueeze(1) >= lengths_B.to(x_SBD.device)
        h_SBH = project(weights, "input", x_SBD.masked_fill(closed_SB.unsqueeze(-1), 0))
        fold_NH = torch.cat([weights["parent.weight"], weights["choice.weight"]])
        bias_C = fold_NH.new_empty(0)
        if self.config.bias:
            bias_C = torch.cat([weights["parent.bias"], weights["choice.bias"]])
        return summary_only(gated_convolution(h_SBH, fold_NH, bias_C, lengths_B))
