"""The encoders, one file each; a new one is a file and a name in ``AnyEncoder``."""

from typing import Annotated

from pydantic import Field

from anaphora.config import by_kind_or
from anaphora.nn.encoders.convolution import ConvolutionConfig
from anaphora.nn.encoders.encoder import Encoded, Encoder
from anaphora.nn.encoders.gated_convolution import GatedConvolutionConfig, GatedConvolutionEncoder
from anaphora.nn.encoders.ngram_convolution import NgramConvolutionConfig, NgramConvolutionEncoder
from anaphora.nn.encoders.recurrent import EncoderConfig, RecurrentEncoder

AnyEncoder = Annotated[
    EncoderConfig | ConvolutionConfig | GatedConvolutionConfig | NgramConvolutionConfig,
    Field(discriminator="kind"),
    by_kind_or("recurrent"),
]
"""An encoder as a recipe's ``[encoder]`` table; without a ``kind`` it is a recurrent one."""

__all__ = [
    "AnyEncoder",
    "ConvolutionConfig",
    "Encoded",
    "Encoder",
    "EncoderConfig",
    "GatedConvolutionConfig",
    "GatedConvolutionEncoder",
    "NgramConvolutionConfig",
    "NgramConvolutionEncoder",
    "RecurrentEncoder",
]
