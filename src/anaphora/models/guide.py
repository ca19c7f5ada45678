"""Alignment supervision of attention while a translator is trained: the options of ``[guide]``."""

from typing import Annotated, Literal

from pydantic import Field

from anaphora.config import Config, by_kind
from anaphora.models.alignment.aligner import AlignerConfig


class NoGuide(Config):
    """No supervision."""

    kind: Literal["none"] = "none"
    """Source of the word alignments."""


class LearntGuide(Config):
    """Alignments between the translator's own tokens, learnt by an aligner from the training split before training."""

    kind: Literal["learn"] = "learn"
    """Source of the word alignments."""
    weight: float = Field(0.5, gt=0)
    """Weight of the alignment loss beside the word loss (Chen et al. 2016)."""
    aligner: AlignerConfig = AlignerConfig()
    """The aligner."""


class GivenGuide(Config):
    """Alignments between the space-separated words of the training split, from a file."""

    kind: Literal["file"] = "file"
    """Source of the word alignments."""
    file: str
    """File in Pharaoh format, with a line for every line of the training files, skipped ones included."""
    weight: float = Field(0.5, gt=0)
    """Weight of the alignment loss beside the word loss (Chen et al. 2016)."""


AnyGuide = Annotated[NoGuide | LearntGuide | GivenGuide, Field(discriminator="kind"), by_kind]
"""The ``[guide]`` table."""
