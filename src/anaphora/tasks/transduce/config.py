"""The experiments of transducers."""

from typing import ClassVar, Literal

from pydantic import Field

from anaphora.config import MAX_COUNT, MAX_LENGTH, SET, Conflict
from anaphora.formats.strings import STRINGS
from anaphora.models.writers import VectorTransducerConfig
from anaphora.tasks.data_table import PairsData, TableData
from anaphora.tasks.trace import ValuedExperiment, WrittenData
from anaphora.tasks.translation import SearchConfig, TranslatorExperiment
from anaphora.text.tokenization import Symbol
from anaphora.training.best_checkpoint import Better

METRICS: dict[str, Better] = {"loss": "lower", "accuracy": "higher", "symbol_error_rate": "lower"}
"""Of every transducer."""


class StringData(PairsData, TableData):
    """Pairs of strings; ``valid = "none"`` holds a tenth of the training inputs out."""

    usual_columns = STRINGS.usual
    sides = (2, 3)
    sides_named = "two or three, those of the input, the output and the features"

    language: str = "en"
    """Language code of the strings, for lower-casing."""
    hallucinate: int = Field(0, ge=0, le=MAX_COUNT)
    """Pairs with other characters in their stems that are added to the training split (Anastasopoulos and Neubig
    2019), for inflection with few examples."""

    @property
    def languages(self) -> dict[str, str]:
        return {"source": self.language, "target": self.language}


class TransductionEvaluation(SearchConfig):
    """Options of the search for outputs and of their scores."""

    beam: int = Field(1, ge=1, le=MAX_LENGTH)
    """Hypotheses kept at each step; 1 is greedy search."""
    without: str = ""
    """Characters that are left out of outputs and answers for a second set of scores, such as digits of stress."""


class TransductionExperiment(TranslatorExperiment):
    """A transducer of strings: a translator of symbols."""

    metrics: ClassVar[dict[str, Better]] = METRICS
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"guided_alignment.kind": "file"}, 'its lines are of words between spaces; set guided_alignment = "learn"'
        ),
    )

    chosen_by_data = ("data.shuffle_window", "data.columns", "data.header")
    task: Literal["transduce"]
    """Name of the task."""
    model: Literal["text"] = "text"
    """Kind of input: strings, or sequences of vectors."""
    data: StringData = StringData()
    """Pairs of strings."""
    text: Symbol = Symbol()
    """Symbols of both sides."""
    evaluation: TransductionEvaluation = TransductionEvaluation()
    """Options of the search for outputs and of their scores."""


class VectorTransductionExperiment(VectorTransducerConfig, ValuedExperiment):
    """A transducer of sequences of vectors, such as the strokes of a pen."""

    metrics: ClassVar[dict[str, Better]] = METRICS
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a transducer of vectors starts from no other run; leave start.run out"),
        Conflict({"text.source": SET}, "vectors are read, and no string; leave text.source out"),
        Conflict({"text.joint": SET}, "vectors are read, and no string; leave text.joint out"),
    )
    reads_text = True

    task: Literal["transduce"]
    """Name of the task."""
    model: Literal["vectors"]
    """Kind of input: strings, or sequences of vectors."""
    data: WrittenData = WrittenData()
    """Sequences of vectors with their texts."""
    text: Symbol = Symbol()
    """Symbols of the texts."""
    evaluation: TransductionEvaluation = TransductionEvaluation()
    """Options of the search for outputs and of their scores."""
