"""The experiment of an aligner."""

from typing import Literal

from anaphora.models.alignment.aligner import AlignerModelConfig
from anaphora.tasks.base import ExperimentBase, Rule
from anaphora.tasks.data_table import PairData
from anaphora.tasks.fitting import RULES_OF_FITTING, segmented_alike
from anaphora.text.units import TextConfig, Word


class AlignerExperiment(AlignerModelConfig, ExperimentBase):
    """Word links, counted; of ``[training]`` it has use for the seed and threads alone."""

    rules = (
        *segmented_alike("an aligner"),
        Rule(
            lambda e: e.start.run != "none",
            "an aligner starts from no other run: let it learn from the old text and the new one.",
        ),
    )
    written_rules = RULES_OF_FITTING

    task: Literal["align"]
    """What is learnt."""
    data: PairData = PairData()
    """Where pairs of sentences come from."""
    text: TextConfig = Word(size=1_000_000, lowercase=True)
    """What a text is cut into."""
