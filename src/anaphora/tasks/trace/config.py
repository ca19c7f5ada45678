"""The experiments of real-valued sequences: predicted by themselves, or written from a text."""

from typing import ClassVar, Literal

from pydantic import Field

from anaphora.config import MAX_LENGTH, SET, Conflict
from anaphora.data.fields.values import Scale
from anaphora.models.values import PredictionConfig, SynthesisConfig, ValuesConfig
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import DataConfig
from anaphora.text.tokenization import Character, TextConfig
from anaphora.training.best_checkpoint import Better


class TraceData(DataConfig):
    """Real-valued sequences."""

    points: Literal["auto", "absolute", "offsets"] = "auto"
    """Meaning of rows with pen bits: positions or offsets; "auto": offsets where numbers are negative."""
    y_axis: Literal["down", "up"] = "down"
    """Direction in which y grows in the files."""
    max_length: int = Field(2000, ge=0, le=MAX_LENGTH)
    """Training sequences with more vectors than this are left out; 0 keeps all."""


class WrittenData(TraceData):
    """Real-valued sequences with their texts."""

    language: str = "en"
    """Language code of the texts, for lower-casing."""


class ValuedExperiment(ExperimentBase):
    """Base of the experiments over real-valued sequences."""

    chosen_by_data = ("data.points", "values")
    reads_text: ClassVar[bool] = False
    """True if every sequence needs a text."""

    data: TraceData = TraceData()
    """Real-valued sequences."""
    values: ValuesConfig = ValuesConfig()
    """The vectors of the data."""

    @property
    def scale(self) -> Scale:
        """Kind of the numbers in the files and their scaling, once both are resolved."""
        values, data = self.values, self.data
        pen, offsets, upward = values.kind == "strokes", data.points == "offsets", data.y_axis == "up"
        return Scale(pen, offsets, pen and upward, values.mean, values.deviation)


class TraceExperiment(ValuedExperiment):
    """Base of the experiments that predict real-valued sequences."""

    metrics: ClassVar[dict[str, Better]] = {"loss": "lower"}
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a model of real-valued sequences starts from no other run; leave start.run out"),
        Conflict({"text.rare": SET}, "it is for the rare words of a translation; leave it out"),
    )

    task: Literal["trace"]
    """Name of the task."""
    model: str
    """The kind of model."""
    text: TextConfig = Character()
    """Tokenizer of the texts."""


class PredictionExperiment(PredictionConfig, TraceExperiment):
    """A model that predicts each vector from those before."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"text": SET}, 'it reads no text; leave text out, or set model = "synthesis"', written=True),
    )

    model: Literal["prediction"] = "prediction"
    """The kind of model."""


class SynthesisExperiment(SynthesisConfig, TraceExperiment):
    """A model that writes a text."""

    model: Literal["synthesis"]
    """The kind of model."""
    data: WrittenData = WrittenData()
    """Real-valued sequences with their texts."""

    reads_text = True
