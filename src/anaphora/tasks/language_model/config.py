"""The experiments of language models: recurrent, with a window, counted, and mixed of others."""

from typing import ClassVar, Literal

from anaphora.models.feed_forward import FeedForwardLanguageModelConfig
from anaphora.models.interpolation.model import InterpolationModelConfig
from anaphora.models.language_model import LanguageModelConfig
from anaphora.models.ngram.model import NgramModelConfig
from anaphora.options import SET, Conflict
from anaphora.tasks.base import FITTED_CONFLICTS, ExperimentBase, FittedExperiment, TextConfig, segmented_alike
from anaphora.tasks.data_table import CUTS, TextData
from anaphora.text.tokenization import Character, Word


class LanguageModelExperiment(ExperimentBase):
    """Base of every language model's experiment."""

    metrics: ClassVar = {**ExperimentBase.metrics, "bits_per_character": "lower"}
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda experiment: experiment.data.max_length and experiment.reads_stream,
            "data.max_length leaves out sentences, but this model reads running text: leave it out",
        ),
        Conflict(
            {"data.windows": "random", "training.reduction": ("sum", "sum_per_sentence")},
            'both let the learning rate follow the length of a window; set training.reduction = "mean_per_token"',
        ),
        *segmented_alike("a language model"),
    )

    task: Literal["language-model"]
    """Name of the task."""
    model: str
    """The kind of model."""
    data: TextData = TextData()
    """Source of the running text."""
    text: TextConfig = Character()
    """Tokenizer."""

    @property
    def reads_stream(self) -> bool:
        """True if it reads running text, what stands in a line depending on the lines before."""
        return getattr(self, "reads", "stream") == "stream"


class RecurrentExperiment(LanguageModelConfig, LanguageModelExperiment):
    """A language model that reads with a recurrent network."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        *(
            Conflict(
                {f"data.{name}": SET, "reads": "sentences"},
                "it says where running text is cut, and sentences are taken whole; leave it out (data.steps = 100, "
                'data.windows = "equal"), or set reads = "stream"',
            )
            for name in CUTS
        ),
        Conflict(
            {"recurrence.temporal_activation_regularization": SET, "data.steps": 1, "reads": "stream"},
            "it is for changes from step to step, and the text is cut between any two; leave it out, or take longer "
            "steps",
        ),
    )

    model: Literal["recurrent"] = "recurrent"
    """The kind of model."""


class FeedForwardExperiment(FeedForwardLanguageModelConfig, LanguageModelExperiment):
    """A language model that sees a fixed number of symbols."""

    model: Literal["feed-forward"]
    """The kind of model."""


class NgramExperiment(NgramModelConfig, LanguageModelExperiment, FittedExperiment):
    """A language model that was counted; of ``[training]`` it has use for the seed and threads alone."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda experiment: experiment.start.gives_weights,
            "an n-gram language model starts from no other run: count the old text and the new one together",
        ),
        *FITTED_CONFLICTS,
    )

    model: Literal["ngram"]
    """The kind of model."""
    text: TextConfig = Word()
    """Tokenizer."""


class InterpolationExperiment(InterpolationModelConfig, LanguageModelExperiment, FittedExperiment):
    """An interpolation of runs, its weights fitted to the validation split; of ``[training]`` it uses seed and threads.

    Its tokenizer is that of its runs.
    """

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"start.run": SET}, "an interpolation starts from the runs in interpolation.runs; leave start.run out"
        ),
        *FITTED_CONFLICTS,
    )

    model: Literal["interpolation"]
    """The kind of model."""
