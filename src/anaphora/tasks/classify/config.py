"""The experiments of classifiers."""

from typing import ClassVar, Literal

from pydantic import Field

from anaphora.config import MAX_LENGTH, SET, Conflict
from anaphora.formats.labelled import TEXTS
from anaphora.models.classifier import ClassifierConfig, PooledConfig, VectorClassifierConfig
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import DataConfig, TableData
from anaphora.text.tokenization import TextConfig, Word
from anaphora.training.best_checkpoint import Better


class ExamplesData(DataConfig):
    """Labelled examples."""

    label_separator: str = "|"
    """Separator of the labels of an example that share a cell or a word (for classes.output = "sigmoid")."""
    max_length: int = Field(400, ge=1, le=MAX_LENGTH)
    """Longer examples are truncated to this many tokens or vectors, in training and in prediction."""


class LabelledData(ExamplesData, TableData):
    """Labelled texts."""

    sides_named = "two, that of the text and that of the label"
    usual_columns = TEXTS.usual

    language: str = "en"
    """Language code of the texts, for tokenizers of words."""
    encoding: Literal["utf-8", "iso-8859-1"] = "utf-8"
    """Character encoding of the files."""


class ClassifyExperiment(PooledConfig, ExperimentBase):
    """Base of every classifier's experiment."""

    metrics: ClassVar[dict[str, Better]] = {
        "loss": "lower",
        "accuracy": "higher",
        "macro_f1": "higher",
        "micro_f1": "higher",
    }
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a classifier starts from no other run; leave start.run out"),
        Conflict(
            {"training.reduction": "mean_per_sequence"},
            'an example has one prediction; set training.reduction = "mean_per_token"',
        ),
        Conflict(
            {"data.label_separator": SET, "classes.output": "softmax"},
            'an example has one class; leave it out, or set classes.output = "sigmoid"',
        ),
        Conflict({"text.rare": SET}, "it is for the rare words of a translation; leave it out"),
    )

    chosen_by_data: ClassVar[tuple[str, ...]] = ("classes.names",)

    task: Literal["classify"]
    """Name of the task."""
    data: ExamplesData = ExamplesData()
    """Labelled examples."""


class ClassifierExperiment(ClassifierConfig, ClassifyExperiment):
    """A classifier of texts."""

    chosen_by_data = ("classes.names", "data.columns", "data.header")
    encoder_side = "text"

    model: Literal["text"] = "text"
    """Kind of input: texts, or sequences of vectors."""
    data: LabelledData = LabelledData()
    """Labelled texts."""
    text: TextConfig = Word()
    """Tokenizer."""


class VectorClassifierExperiment(VectorClassifierConfig, ClassifyExperiment):
    """A classifier of sequences of vectors."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"text": SET}, "there is no text; leave [text] out"),
        Conflict({"start.vocabulary": SET}, "there is no text; leave start.vocabulary out"),
    )
    chosen_by_data = ("classes.names", "vectors")

    model: Literal["vectors"]
    """Kind of input: texts, or sequences of vectors."""
