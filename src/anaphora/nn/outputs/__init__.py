"""The output layers, one file each; a new one is a file and a name in ``AnyOutput``."""

from typing import Annotated

from pydantic import Field

from anaphora.config import by_kind_or
from anaphora.nn.outputs.adaptive import Adaptive
from anaphora.nn.outputs.class_factored import ClassFactored
from anaphora.nn.outputs.full import Full
from anaphora.nn.outputs.hierarchical import Hierarchical
from anaphora.nn.outputs.noise_contrastive import NoiseContrastive
from anaphora.nn.outputs.pointer_generator import PointerGenerator
from anaphora.nn.outputs.sampled import Sampled

_Output = Full | ClassFactored | Hierarchical | Sampled | NoiseContrastive | Adaptive

AnyOutput = Annotated[_Output, Field(discriminator="kind"), by_kind_or("full")]
"""An output as a recipe names it: ``"adaptive"``, or ``{kind = "sampled", proposal = "unigram"}``; a table that does
not say its kind is of the full softmax."""

AnyCopyingOutput = Annotated[_Output | PointerGenerator, Field(discriminator="kind"), by_kind_or("full")]
"""The output of a network that reads words, too, and so may copy them."""
