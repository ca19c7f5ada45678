"""The encoders, one file each; a new one is a file and a name in ``AnyEncoder``."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from anaphora.config import by_kind
from anaphora.nn.encoders.convolution import ConvolutionConfig
from anaphora.nn.encoders.encoder import Encoded, Encoder
from anaphora.nn.encoders.gated_convolution import GatedConvolutionConfig, GatedConvolutionEncoder
from anaphora.nn.encoders.ngram_convolution import NgramConvolutionConfig, NgramConvolutionEncoder
from anaphora.nn.encoders.recurrent import EncoderConfig, RecurrentEncoder


def _recurrent_unless_named(value: Any) -> Any:
    return {"kind": "recurrent", **value} if isinstance(value, Mapping) else value


AnyEncoder = Annotated[
    EncoderConfig | ConvolutionConfig | GatedConvolutionConfig | NgramConvolutionConfig,
    Field(discriminator="kind"),
    BeforeValidator(_recurrent_unless_named),
    by_kind,
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
