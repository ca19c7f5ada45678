"""Language modelling: text continued, scored and measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.models.ngram.model import NgramModel
from anaphora.models.registry import NETWORKS
from anaphora.protocols import TextModel
from anaphora.run import Checkpoint
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.language_model import sizing
from anaphora.tasks.language_model.arpa import load_arpa, save_arpa
from anaphora.tasks.language_model.config import (
    FeedForwardExperiment,
    InterpolationExperiment,
    LanguageModelExperiment,
    NgramExperiment,
    RecurrentExperiment,
)
from anaphora.tasks.language_model.data import LanguageModelWork
from anaphora.tasks.language_model.evaluation import adapted_to_data, evaluate
from anaphora.tasks.language_model.interpolation import InterpolationWork, interpolation_table, with_members
from anaphora.tasks.language_model.ngram import NgramWork
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.runs import load_trained
from anaphora.tasks.task import Task, Trained
from anaphora.tasks.work import Work
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer

__all__ = [
    "TASKS",
    "LanguageModelExperiment",
    "LanguageModelPredictor",
    "RecurrentExperiment",
    "adapted_to_data",
    "interpolation_table",
]


def _export_arpa(run: Path, output: Path, report: Report) -> None:
    trained = load_trained(run, "best", report)
    if not isinstance(trained.model, NgramModel):
        raise ConfigError(
            f"An ARPA file holds n-grams, but {run} is no n-gram language model: train one from ptb-ngram."
        )
    save_arpa(trained.model, trained.tokenizers["text"], output)
    text = trained.experiment.text
    if isinstance(text, Word) and text.segmentation != "whitespace":
        report(
            Note(
                f"Its words are segmented by text.segmentation = {text.segmentation!r}, but the file is read "
                f"word by word between spaces: give them text that is segmented alike, or score with {run} itself."
            )
        )


class RecurrentLanguageModelling(Task):
    """Language modelling by a recurrent network."""

    name, model = "language-model", "recurrent"
    noun, plural = "a language model", "recurrent language models"
    experiment: ClassVar[type[LanguageModelExperiment]] = RecurrentExperiment
    network = NETWORKS["recurrent"]
    see = "see anaphora generate and evaluate"
    next_command = "anaphora generate {run} --prompt 'The'"
    example = 'model = anaphora.load("{path}")\nprint(model.generate("...").text)'
    counted, tiers = "characters", sizing.TIERS
    suits = staticmethod(sizing.suits)
    choose, describe = staticmethod(sizing.choose), staticmethod(sizing.describe)

    def work(self, experiment: Any, report: Report) -> Work:
        return LanguageModelWork(experiment, report)

    def predictor(self, trained: Trained) -> LanguageModelPredictor:
        model = cast(TextModel, trained.model)
        return LanguageModelPredictor(model, trained.tokenizers["text"], trained.path, trained.runtime)

    def open_file(self, path: Path) -> LanguageModelPredictor:
        """Return the model of an ARPA file."""
        return LanguageModelPredictor(*load_arpa(path), path)

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        """Return that of a text, or of the target side of a translator."""
        return {"text": tokenizers["text"] if "text" in tokenizers else tokenizers["target"]}

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(paths, request, report)


class FeedForwardLanguageModelling(RecurrentLanguageModelling):
    """Language modelling by a network that sees a fixed number of symbols."""

    model, plural = "feed-forward", "feed-forward language models"
    experiment = FeedForwardExperiment
    network = NETWORKS["feed-forward"]


class NgramLanguageModelling(RecurrentLanguageModelling):
    """Language modelling by counts of n-grams."""

    model, plural = "ngram", "n-gram language models"
    experiment = NgramExperiment
    network = NETWORKS["ngram"]
    on_gpu = False
    exports: ClassVar = {"arpa": _export_arpa}

    def work(self, experiment: Any, report: Report) -> Work:
        return NgramWork(experiment, report)


class Interpolating(RecurrentLanguageModelling):
    """Language modelling by an interpolation of runs."""

    model, plural = "interpolation", "interpolations"
    experiment = InterpolationExperiment
    network = NETWORKS["interpolation"]
    on_gpu = False

    def with_runs(self, experiment: Any, parent: object) -> Any:
        return with_members(experiment, parent)

    def weights_of_runs(self, experiment: Any, checkpoint: Checkpoint) -> dict[str, float]:
        return dict(zip(experiment.interpolation.component_names, checkpoint.model["weights"].tolist(), strict=True))

    def work(self, experiment: Any, report: Report) -> Work:
        return InterpolationWork(experiment, report)


TASKS = (RecurrentLanguageModelling, FeedForwardLanguageModelling, NgramLanguageModelling, Interpolating)
