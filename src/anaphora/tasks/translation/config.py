"""The experiment of a translator."""

from typing import ClassVar, Literal, Self

from pydantic import Field

from anaphora.config import Config
from anaphora.data.mixture import Proportions
from anaphora.languages import is_unspaced
from anaphora.models.translator import GivenGuide, NoGuide, TranslatorConfig
from anaphora.nn.fusion import DeepFusion
from anaphora.options import MAX_BEAM, MAX_LENGTH, SET, Conflict, other_than
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairData, PairsData
from anaphora.text.placeholders import Kind

CONFLICTS = (
    Conflict(
        lambda experiment: experiment.fusion.kind != "none" and not experiment.start.gives_weights,
        'fusion.kind = "deep" keeps all of a translator but its readout and output as they are: give it one that has '
        "learnt, with its weights (train --from RUN, start.run)",
    ),
    Conflict(
        {"guided_alignment.kind": "file", "text.rare": "posall"},
        'it puts places between the words that guided_alignment.file links; set guided_alignment = "learn"',
    ),
    Conflict(
        lambda experiment: experiment.text.sampling_option and experiment.guided_alignment.kind != "none",
        "text.{table.text.sampling_option} segments sentences anew every epoch, but guided_alignment links fixed "
        "tokens: leave out one of the two",
    ),
    Conflict(
        lambda experiment: experiment.joint_option and not experiment.text.one_vocabulary,
        "{table.joint_option[0]} needs one vocabulary for both sides, but each side has one of its own: set "
        "{table.joint_option[1]}, or text.joint = true where the vocabulary is learnt and not of words",
        written=True,
    ),
    Conflict(
        {"encoder.sentence_encoding_from": SET, "attention.kind": "none", "decoder.initial_state": other_than("mean")},
        "the other direction of the top layer is trained but unused; set encoder.bidirectional = false, or leave "
        "encoder.sentence_encoding_from out",
        written=True,
    ),
    Conflict(
        {"encoder.sentence_encoding_from": SET, "decoder.initial_state": ("mean", "zero"), "attention.kind": "soft"},
        'it is the last state that the decoder starts from; set encoder.sentence_encoding_from = "both", or '
        'decoder.initial_state = "project"',
        written=True,
    ),
    Conflict(
        lambda experiment: (
            experiment.attention.kind == "soft"
            and 0 < experiment.data.max_length < getattr(experiment.attention.window, "radius", 0)
        ),
        "attention.window.radius = {table.attention.window.radius} is larger than any sentence (data.max_length = "
        '{table.data.max_length}): make it smaller, or set attention.window = "global"',
        written=True,
    ),
)
"""Conflicts between options of different tables; conflicts within a table are declared with its options."""

OF_SENTENCES = (
    Conflict(
        {"data.placeholders": SET, "text.tokenizer": "byte"},
        "a placeholder is one token, and bytes have none for it; set data.placeholders = 0, or take another tokenizer",
    ),
    Conflict(
        {"data.placeholders": SET, "text.rare": other_than("none")},
        'both replace words of the training pairs; set data.placeholders = 0, or text.rare = "none"',
    ),
    Conflict(
        {"data.placeholders": SET, "guided_alignment.kind": "file"},
        'it changes the words that guided_alignment.file links; set guided_alignment = "learn", or leave it out',
    ),
    Conflict(
        lambda experiment: (
            experiment.data.placeholders and any(map(is_unspaced, (experiment.data.source, experiment.data.target)))
        ),
        "data.placeholders replaces words between spaces, which data.source or data.target is written without: leave "
        "it out",
    ),
    Conflict(
        {"start.replay": SET, "data.shuffle_window": SET}, "new and old pairs are shuffled as a whole; leave it out"
    ),
    Conflict(
        {"start.replay": SET, "training.metric": "bleu"},
        'old and new pairs together are judged by their loss; set training.metric = "loss"',
    ),
    Conflict(
        {"evaluation.recorded_alignments": SET, "attention.kind": other_than("soft")},
        "only attention over positions has alignments; leave it out",
        written=True,
    ),
    Conflict(
        {"evaluation.recorded_alignments": SET, "text.rare": other_than("none")},
        "given translations are not aligned where rare words are annotated; leave it out",
        written=True,
    ),
    Conflict(
        {"evaluation.conditions": "moses-lowercase", "data.target": is_unspaced},
        "it counts what stands between spaces, which that language is written without; set "
        'evaluation.conditions = "raw"',
    ),
    Conflict(
        {"evaluation.validation_beam": SET, "training.metric": other_than("bleu")},
        'validation searches for BLEU alone; leave it out, or set training.metric = "bleu"',
        written=True,
    ),
)
"""Further ones of a translator of sentences, whose outputs are scored by BLEU."""


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
    protect: tuple[Kind, ...] = ()
    """Kinds of text that translations keep beside the usual ones, such as "names"; test scores are with them too."""
    length_model: bool = False
    """True to rank translations by the probability of their length too (Gale and Church 1993), as training pairs have
    it."""
    length_ratios: tuple[float, ...] = ()
    """Target tokens for one of the source, of each direction; counted when training begins."""
    length_variances: tuple[float, ...] = ()
    """Variance of their number for each token of the source, likewise."""
    recorded_alignments: int = Field(0, ge=0, le=10)
    """Validation pairs whose alignment is recorded at each validation, for the microscope; 0 records none."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda evaluation: len(evaluation.length_ratios) != len(evaluation.length_variances),
            "{at}length_ratios and {at}length_variances have a number for each direction: give both, or leave both out",
        ),
    )


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

    def resume(self, begun: Self) -> Self:
        """Return the options with the language model that it was fused with, too."""
        now = super().resume(begun)
        if not isinstance(now.fusion, DeepFusion) or not isinstance(begun.fusion, DeepFusion):
            return now
        return now.with_options({"fusion.model": begun.fusion.model})


class TranslationData(PairData):
    """Pairs of sentences to learn to translate from."""

    placeholders: float = Field(0.0, ge=0, le=1)
    """Fraction of training pairs in which words become placeholders, so that a translator learns where these go; those
    that both sides of other pairs have are learnt from too. 0 leaves all pairs as they are."""
    temperature: float = Field(5.0, ge=1, le=1000)
    """Of several directions each is drawn in proportion to (number of its pairs) ** (1 / temperature), so that small
    ones are seen more often (Arivazhagan et al. 2019: 5); 1 draws every pair alike."""
    synthetic: tuple[str, ...] = ()
    """Files of pairs that a program wrote, which are trained on too, with a tag in front of the source (Caswell et al.
    2019)."""
    synthetic_ratio: float = Field(1.0, gt=0, le=1000)
    """Synthetic pairs for a real one in an epoch at most, others in every epoch (Sennrich et al. 2016: 1)."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"synthetic_ratio": SET, "synthetic": ()}, "there are no synthetic pairs; leave it out", written=True),
        Conflict(
            lambda data: data.shuffle_window and (data.synthetic or len(data.directions) > 1),
            "{at}shuffle_window is for real pairs in one direction, as others are drawn from all data: leave it out",
        ),
    )

    @property
    def proportions(self) -> Proportions:
        return Proportions(self.temperature, self.synthetic_ratio)


class TranslationExperiment(TranslatorExperiment):
    """A translator of sentences."""

    metrics: ClassVar = {**ExperimentBase.metrics, "bleu": "higher"}
    conflicts: ClassVar[tuple[Conflict, ...]] = OF_SENTENCES

    places = (*TranslatorExperiment.places, "data.synthetic")
    chosen_by_data = ("data.shuffle_window", "evaluation.length_ratios", "evaluation.length_variances")

    task: Literal["translate"]
    """Name of the task."""
    data: TranslationData = TranslationData()
    """Source of the pairs of sentences."""
    evaluation: TranslationEvaluation = TranslationEvaluation()
    """Options of the scores of translations."""

    @property
    def replays(self) -> bool:
        """Old pairs have no links, no annotated words and no tags; a fused translator keeps what it knows anyway."""
        plain = not self.text.annotates and self.guided_alignment.kind == "none" and self.fusion.kind == "none"
        return plain and not self.data.synthetic and len(self.data.directions) == 1

    def to_grow(self) -> Self:
        """Without alignment supervision and synthetic pairs: old pairs have no links, and no tags."""
        return self.with_options({"guided_alignment": NoGuide(), "data.synthetic": ()})
