"""The encoders, one file each; a new one is a file and a name in ``AnyEncoder``."""

from typing import Annotated

from pydantic import Field

from anaphora.config import by_kind_or
from anaphora.nn.encoders.convolution import ConvolutionConfig
from anaphora.nn.encoders.gated_convolution import GatedConvolutionConfig
from anaphora.nn.encoders.ngram_convolution import NgramConvolutionConfig
from anaphora.nn.encoders.recurrent import EncoderConfig

AnyEncoder = Annotated[
    EncoderConfig | ConvolutionConfig | GatedConvolutionConfig | NgramConvolutionConfig,
    Field(discriminator="kind"),
    by_kind_or("recurrent"),
]
"""An encoder as a recipe's ``[encoder]`` table; without a ``kind`` it is a recurrent one."""
