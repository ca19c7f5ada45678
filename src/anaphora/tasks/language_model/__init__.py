"""Language modelling: text continued, scored and measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

from anaphora.data.finding import Names, find_pairs, find_texts
from anaphora.data.sources import text_splits
from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.tsv import has_two_columns
from anaphora.models.ngram.model import NgramModel
from anaphora.models.registry import NETWORKS
from anaphora.protocols import TextModel
from anaphora.run import Checkpoint
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.language_model.arpa import load_arpa, save_arpa
from anaphora.tasks.language_model.config import (
    FeedForwardExperiment,
    InterpolationExperiment,
    LanguageModelExperiment,
    NgramExperiment,
    RecurrentExperiment,
)
from anaphora.tasks.language_model.evaluation import adapted_to_data, evaluate
from anaphora.tasks.language_model.interpolation import InterpolationJob, interpolation_table, with_members
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.language_model.training import LanguageModelJob, NgramJob
from anaphora.tasks.runs import load_trained
from anaphora.tasks.sizing import TOKENS, figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table, Task, Trained
from anaphora.tasks.training_job import TrainingJob
from anaphora.text.tokenization import AnyTokenizer, Word
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import counted

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


class Tier(NamedTuple):
    """The language model for at most this many characters."""

    characters: int
    size: int
    dropout: float
    epochs: int


TIERS = (
    Tier(200_000, size=192, dropout=0.3, epochs=30),
    Tier(5_000_000, size=512, dropout=0.1, epochs=10),
    Tier(1 << 62, size=768, dropout=0.1, epochs=4),
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
    counted, tiers = "characters", TIERS

    def job(self, experiment: Any, report: Report) -> TrainingJob:
        return LanguageModelJob(experiment, report)

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

    def suits(self, data: Sequence[Path], names: Names, languages_given: bool) -> bool:
        """Return True for a folder that holds ``train.txt``, and for a file whose kind can hold no pairs."""
        return not languages_given and all(_is_running_text(path, names) for path in data)

    def choose(
        self, data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None
    ) -> Sized:
        """Choose the model of characters for as many of them; DataError for data that cannot be read."""
        found = text_splits(data, names)
        characters = sum(len(line) + 1 for line in found.train)
        return Sized(_table(tier_for(characters, TIERS)), f"{counted(characters, 'character')} of running text")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        token = TOKENS.get(text.tokenizer if text else str(value_at(table, "text.tokenizer")), "token")
        size = figure(table, "recurrence.size", " of {:,} hidden units")
        return f"a {token} language model{size}{figure(table, 'training.epochs', ', {:,} epochs')}"


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

    def job(self, experiment: Any, report: Report) -> TrainingJob:
        return NgramJob(experiment, report)


class Interpolating(RecurrentLanguageModelling):
    """Language modelling by an interpolation of runs."""

    model, plural = "interpolation", "interpolations"
    experiment = InterpolationExperiment
    network = NETWORKS["interpolation"]
    on_gpu = False

    def with_runs(self, experiment: Any, parent: object) -> tuple[Any, tuple[()]]:
        return with_members(experiment), ()

    def weights_of_runs(self, experiment: Any, checkpoint: Checkpoint) -> dict[str, float]:
        return dict(zip(experiment.interpolation.component_names, checkpoint.model["weights"].tolist(), strict=True))

    def job(self, experiment: Any, report: Report) -> TrainingJob:
        return InterpolationJob(experiment, report)


TASKS = (RecurrentLanguageModelling, FeedForwardLanguageModelling, NgramLanguageModelling, Interpolating)


def _is_running_text(path: Path, names: Names) -> bool:
    try:
        if path.is_dir():
            find_texts([path], names, silent)
            return True
        find_pairs([path], ("source", "target"), names, silent)
    except DataError:
        return not path.is_dir() and not (path.is_file() and has_two_columns(path))
    return False


def _table(tier: Tier) -> Table:
    return {
        "task": "language-model",
        "text": {"tokenizer": "character"},
        "embedding": {"size": 64},
        "recurrence": {"cell": "lstm", "layers": 1, "size": tier.size, "dropout": tier.dropout},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": 0.002},
            "schedule": {"kind": "plateau", "patience": 1},
            "batch_tokens": 0,
            "epochs": tier.epochs,
            "patience": 3,
        },
    }
