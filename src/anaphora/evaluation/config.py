"""The ``[evaluation]`` table: how a trained translator searches, and under which conditions it is scored."""

from typing import Literal

from pydantic import Field

from anaphora.config import Config


class TranslationEvaluation(Config):
    """How translations are scored."""

    conditions: Literal["raw", "moses-lowercase"] = "raw"
    """"raw" scores text as it is; "moses-lowercase" lower-cased, normalised, Moses-tokenised text on both sides."""
    beam: int = Field(5, ge=1)
    """Hypotheses kept at each step when text is translated."""
    length_penalty: float = Field(0.0, ge=0)
    """How strongly length is rewarded (Wu et al. 2016, equation 14); 0 is the plain sum of log-probabilities."""
    validation_beam: int = Field(1, ge=1)
    """Hypotheses kept at each step for BLEU during training."""
