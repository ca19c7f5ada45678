"""Language modelling: text continued, scored and measured."""

from pathlib import Path
from typing import cast

from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.models.ngram.model import NgramModel
from anaphora.models.registry import NETWORKS
from anaphora.protocols import TextModel
from anaphora.run import Checkpoint
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
from anaphora.tasks.task import Kind, Sizing, Task, Trained
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer

__all__ = [
    "TASK",
    "LanguageModelExperiment",
    "LanguageModelPredictor",
    "RecurrentExperiment",
    "adapted_to_data",
    "interpolation_table",
]


def _predictor(trained: Trained) -> LanguageModelPredictor:
    model = cast(TextModel, trained.model)
    return LanguageModelPredictor(model, trained.tokenizers["text"], trained.path, trained.runtime)


def _open_arpa(path: Path) -> LanguageModelPredictor:
    return LanguageModelPredictor(*load_arpa(path), path)


def _tokenizers(tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
    """Those of a text, or of the target side of a translator."""
    return {"text": tokenizers["text"] if "text" in tokenizers else tokenizers["target"]}


def _weights_of_runs(experiment: InterpolationExperiment, checkpoint: Checkpoint) -> dict[str, float]:
    return dict(zip(experiment.interpolation.component_names, checkpoint.model["weights"].tolist(), strict=True))


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


TASK = Task(
    name="language-model",
    noun="a language model",
    kinds={
        "recurrent": Kind("recurrent language models", RecurrentExperiment, NETWORKS["recurrent"], LanguageModelWork),
        "feed-forward": Kind(
            "feed-forward language models", FeedForwardExperiment, NETWORKS["feed-forward"], LanguageModelWork
        ),
        "ngram": Kind(
            "n-gram language models",
            NgramExperiment,
            NETWORKS["ngram"],
            NgramWork,
            on_gpu=False,
            exports={"arpa": _export_arpa},
        ),
        "interpolation": Kind(
            "interpolations",
            InterpolationExperiment,
            NETWORKS["interpolation"],
            InterpolationWork,
            on_gpu=False,
            complete=with_members,
            weights_of_runs=_weights_of_runs,
        ),
    },
    predictor=_predictor,
    see="see anaphora generate and evaluate",
    next_command="anaphora generate {run} --prompt 'The'",
    example='model = anaphora.load("{path}")\nprint(model.generate("...").text)',
    tokenizers_of=_tokenizers,
    evaluate=evaluate,
    open_file=_open_arpa,
    sizing=Sizing(sizing.choose, sizing.describe, "characters", sizing.TIERS, sizing.suits),
)
"""Language modelling."""
