"""The experiment of an aligner."""

from typing import ClassVar, Literal

from anaphora.config import SET, Conflict
from anaphora.models.alignment.aligner import AlignerModelConfig
from anaphora.tasks.data_table import PairData
from anaphora.tasks.fitting import FITTED_CONFLICTS, FittedExperiment, segmented_alike
from anaphora.text.tokenization import TextConfig, Word


class AlignerExperiment(AlignerModelConfig, FittedExperiment):
    """Word alignments, counted; of ``[training]`` it has use for the seed and threads alone."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        *segmented_alike("an aligner"),
        Conflict(
            {"start.run": SET}, "an aligner starts from no other run; let it learn from the old text and the new one"
        ),
        Conflict({"data.shuffle_window": SET}, "an aligner is counted, in any order; leave it out"),
        *FITTED_CONFLICTS,
    )

    task: Literal["align"]
    """What is learnt."""
    data: PairData = PairData()
    """Where pairs of sentences come from."""
    text: TextConfig = Word(size=1_000_000, lowercase=True, segmentation="moses")
    """Tokenizer."""
