"""The experiments of language models: recurrent, with a window, counted, and mixed of others."""

from typing import ClassVar, Literal

from anaphora.models.feed_forward import FeedForwardLanguageModelConfig
from anaphora.models.interpolation.model import InterpolationModelConfig
from anaphora.models.language_model import LanguageModelConfig
from anaphora.models.ngram.model import NgramModelConfig
from anaphora.tasks.base import ExperimentBase, Rule
from anaphora.tasks.data_table import CUTS, TextData
from anaphora.tasks.fitting import RULES_OF_FITTING, segmented_alike
from anaphora.text.units import Character, TextConfig, Word


class LanguageModelExperiment(ExperimentBase):
    """What every language model has."""

    metrics: ClassVar = {**ExperimentBase.metrics, "bits_per_character": "lower"}
    rules = (
        Rule(
            lambda e: e.data.longest and e.reads_stream,
            "data.longest leaves out sentences, but this model reads running text: leave it out.",
        ),
        Rule(
            lambda e: e.data.windows == "random" and e.training.reduction in ("sum", "sum_per_sentence"),
            "data.windows = 'random' lets the learning rate follow the length of a window, but training.reduction = "
            "'{e.training.reduction}' does so already: set it to 'mean_per_token'.",
        ),
        *segmented_alike("a language model"),
    )

    task: Literal["language-model"]
    """What is learnt."""
    model: str
    """The kind of model."""
    data: TextData = TextData()
    """Where running text comes from."""
    text: TextConfig = Character()
    """What a text is cut into."""

    @property
    def reads_stream(self) -> bool:
        """Whether it reads running text, what stands in a line depending on the lines before."""
        return getattr(self, "reads", "stream") == "stream"


class RecurrentExperiment(LanguageModelConfig, LanguageModelExperiment):
    """A language model that reads with a recurrent network."""

    rules = (
        Rule(
            lambda e: not e.reads_stream and any(getattr(e.data, name) != getattr(TextData(), name) for name in CUTS),
            "data.steps and data.windows say where running text is cut, but reads = 'sentences' takes every line "
            "whole: leave them out (data.steps = 100), or set reads = 'stream'.",
        ),
        Rule(
            lambda e: e.recurrence.change_penalty and e.reads_stream and e.data.steps == 1,
            "recurrence.change_penalty is for changes from step to step, but data.steps = 1 cuts between any two: "
            "leave it out, or take longer steps.",
        ),
    )
    written_rules = (
        Rule(
            lambda e: e.recurrence.residual and e.recurrence.layers == 1,
            "recurrence.residual goes around layers from the second on, but recurrence.layers is 1: leave it out, or "
            "set recurrence.layers = 2.",
        ),
    )

    model: Literal["recurrent"] = "recurrent"
    """The kind of model."""


class WindowExperiment(FeedForwardLanguageModelConfig, LanguageModelExperiment):
    """A language model that sees a fixed number of symbols."""

    model: Literal["window"]
    """The kind of model."""


class NgramExperiment(NgramModelConfig, LanguageModelExperiment):
    """A language model that was counted; of ``[training]`` it has use for the seed and threads alone."""

    rules = (
        Rule(
            lambda e: e.start.gives_weights,
            "a count model starts from no other run: count the old text and the new one together.",
        ),
    )
    written_rules = RULES_OF_FITTING

    model: Literal["ngram"]
    """The kind of model."""
    text: TextConfig = Word()
    """What a text is cut into."""


class MixtureExperiment(InterpolationModelConfig, LanguageModelExperiment):
    """A mixture of runs, its weights fitted to the validation part; it has use for ``[training]`` no more than counts.

    What its text is cut into is what its runs were trained with.
    """

    rules = (
        Rule(
            lambda e: e.start.run != "none",
            "a mixture starts from the runs in mixture.runs: leave start.run out.",
        ),
    )
    written_rules = RULES_OF_FITTING

    model: Literal["mixture"]
    """The kind of model."""
