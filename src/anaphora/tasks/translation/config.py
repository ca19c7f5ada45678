"""The experiment of a translator."""

from typing import ClassVar, Literal, Self

from pydantic import Field

from anaphora.config import MAX_BEAM, MAX_LENGTH, Config, Conflict
from anaphora.models.guide import GivenGuide, NoGuide
from anaphora.models.translator import TranslatorConfig
from anaphora.nn.fusion import DeepFusion
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairData, PairsData
from anaphora.tasks.translation.conflicts import CONFLICTS, OF_SENTENCES
from anaphora.text.tokenization import Word


class SearchConfig(Config):
    """Options of the search for outputs."""

    beam: int = Field(5, ge=1, le=MAX_LENGTH)
    """Hypotheses kept at each step when text is translated."""
    length_penalty: float = Field(0.0, ge=0)
    """Strength of the reward for length (Wu et al. 2016, equation 14); 0 is the plain sum of log-probabilities."""
    validation_beam: int = Field(1, ge=1, le=MAX_LENGTH)
    """Hypotheses kept at each step when the outputs of validation are scored during training."""

    conflicts: ClassVar[tuple[Conflict, ...]] = tuple(
        Conflict(
            {option: lambda beam: beam > MAX_BEAM},
            f"each hypothesis takes the scores of a whole vocabulary; set it to at most {MAX_BEAM:,}",
            written=True,
        )
        for option in ("beam", "validation_beam")
    )


class TranslationEvaluation(SearchConfig):
    """Options of the scores of translations."""

    conditions: Literal["raw", "moses-lowercase"] = "raw"
    """"raw" scores text as it is; "moses-lowercase" lower-cased, normalised, Moses-tokenised text on both sides."""
    recorded_alignments: int = Field(0, ge=0, le=10)
    """Validation pairs whose alignment is recorded at each validation, for the microscope; 0 records none."""


class TranslatorExperiment(TranslatorConfig, ExperimentBase):
    """A translator of whatever pairs."""

    resegments = True
    encoder_side = "source"
    places = (*ExperimentBase.places, "guided_alignment.file")
    chosen_by_data: ClassVar[tuple[str, ...]] = ("data.shuffle_window",)
    conflicts: ClassVar[tuple[Conflict, ...]] = CONFLICTS

    data: PairsData
    """Source of the pairs."""
    evaluation: SearchConfig
    """Options of the search for outputs and of their scores."""

    @property
    def extends_vocabulary(self) -> bool:
        """A translator that is fused keeps the vocabulary that the language model has too."""
        return self.fusion.kind == "none"

    def for_trial(self) -> Self:
        """Without the links of a file, which are those of all lines and cost next to nothing beside the words."""
        given = isinstance(self.guided_alignment, GivenGuide)
        return self.with_options({"guided_alignment": NoGuide()}) if given else self

    def resumed(self, begun: Self) -> Self:
        """With the language model that it was fused with, too."""
        now = super().resumed(begun)
        if not isinstance(now.fusion, DeepFusion) or not isinstance(begun.fusion, DeepFusion):
            return now
        return now.with_options({"fusion.model": begun.fusion.model})


class TranslationData(PairData):
    """Pairs of sentences to learn to translate from."""

    placeholders: float = Field(0.0, ge=0, le=1)
    """Fraction of training pairs in which words become placeholders, so that a translator learns where these go; those
    that both sides of other pairs have are learnt from too. 0 leaves all pairs as they are."""


class TranslationExperiment(TranslatorExperiment):
    """A translator of sentences."""

    metrics: ClassVar = {**ExperimentBase.metrics, "bleu": "higher"}
    conflicts: ClassVar[tuple[Conflict, ...]] = OF_SENTENCES

    task: Literal["translate"]
    """Name of the task."""
    data: TranslationData = TranslationData()
    """Source of the pairs of sentences."""
    evaluation: TranslationEvaluation = TranslationEvaluation()
    """Options of the scores of translations."""

    @property
    def replays(self) -> bool:
        """Old pairs have no links and no annotated words; a fused translator keeps what it knows anyway."""
        annotated = isinstance(self.text, Word) and self.text.rare != "none"
        return not annotated and self.guided_alignment.kind == "none" and self.fusion.kind == "none"

    def to_grow(self) -> Self:
        """Without alignment supervision: old pairs have no links."""
        return self.model_copy(update={"guided_alignment": NoGuide()})
