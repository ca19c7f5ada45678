"""How attention is told where to look while a translator is trained: the options of ``[guide]``."""

from typing import Annotated, Literal

from pydantic import Field

from anaphora.config import Config, by_kind
from anaphora.models.alignment.aligner import AlignerConfig


class NoGuide(Config):
    """Attention finds out for itself."""

    kind: Literal["none"] = "none"
    """Where links come from."""


class LearntGuide(Config):
    """Links that an aligner learns from the training part, between the translator's own units, before it trains."""

    kind: Literal["learn"] = "learn"
    """Where links come from."""
    weight: float = Field(0.5, gt=0)
    """What the cost of looking elsewhere is multiplied by, beside that of the words (Chen et al. 2016)."""
    aligner: AlignerConfig = AlignerConfig()
    """How links are learnt."""


class GivenGuide(Config):
    """Links between the space-separated words of the training part, from a file."""

    kind: Literal["file"] = "file"
    """Where links come from."""
    file: str
    """Links in Pharaoh format, a line for every line of the training files, whichever training leaves out."""
    weight: float = Field(0.5, gt=0)
    """What the cost of looking elsewhere is multiplied by, beside that of the words (Chen et al. 2016)."""


AnyGuide = Annotated[NoGuide | LearntGuide | GivenGuide, Field(discriminator="kind"), by_kind]
"""The ``[guide]`` table."""
