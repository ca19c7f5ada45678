"""The experiments of classifiers."""

from typing import ClassVar, Literal, Self

from pydantic import Field

from anaphora.config import MAX_LENGTH, SET, Conflict
from anaphora.models.classifier import ClassifierConfig
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import DataConfig
from anaphora.text.tokenization import TextConfig, Word
from anaphora.training.stopping import Better


class LabelledData(DataConfig):
    """Labelled texts."""

    language: str = "en"
    """Language code of the texts, for tokenizers of words."""
    encoding: Literal["utf-8", "iso-8859-1"] = "utf-8"
    """Character encoding of the files."""
    label_separator: str = "|"
    """What stands between the labels of a text that share a cell or a word (for classes.output = "sigmoid")."""
    max_length: int = Field(400, ge=1, le=MAX_LENGTH)
    """Longer texts are truncated to this many tokens, in training and in prediction."""

    @property
    def languages(self) -> dict[str, str]:
        return {"text": self.language}


class ClassifierExperiment(ClassifierConfig, ExperimentBase):
    """A classifier of texts."""

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
            'a text has one prediction; set training.reduction = "mean_per_token"',
        ),
        Conflict(
            {"data.label_separator": SET, "classes.output": "softmax"},
            'a text has one class; leave it out, or set classes.output = "sigmoid"',
        ),
        Conflict({"text.rare": SET}, "it is for the rare words of a translation; leave it out"),
    )

    task: Literal["classify"]
    """What is learnt."""
    data: LabelledData = LabelledData()
    """Labelled texts."""
    text: TextConfig = Word()
    """Tokenizer."""

    def resumed(self, begun: Self) -> Self:
        """The experiment with the class names that its run was begun with, unless it names some."""
        now = super().resumed(begun)
        return now if self.classes.names else now.model_copy(update={"classes": begun.classes})
