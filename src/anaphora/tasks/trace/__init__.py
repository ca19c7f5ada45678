"""Real-valued sequences: pen strokes and signals predicted, drawn, and written from texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, cast

from anaphora.events import Report
from anaphora.models.registry import NETWORKS
from anaphora.models.values import ValueNetwork
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.task import Task, Trained
from anaphora.tasks.trace import sizing
from anaphora.tasks.trace.config import (
    PredictionExperiment,
    SynthesisExperiment,
    TraceExperiment,
    ValuedExperiment,
    WrittenData,
)
from anaphora.tasks.trace.data import TraceWork, ValuedWork, settled, splits_of
from anaphora.tasks.trace.drawing import Drawing
from anaphora.tasks.trace.evaluation import NOUN, evaluate
from anaphora.tasks.trace.predictor import Series, TracePredictor

__all__ = [
    "TASKS",
    "Drawing",
    "Series",
    "TraceExperiment",
    "TracePredictor",
    "ValuedExperiment",
    "ValuedWork",
    "WrittenData",
    "settled",
    "splits_of",
]


class ValuePrediction(Task):
    """Prediction of real-valued sequences."""

    name, model = "trace", "prediction"
    noun, plural = NOUN, "prediction networks"
    experiment: ClassVar[type[TraceExperiment]] = PredictionExperiment
    network = NETWORKS["prediction"]
    see = "see anaphora draw"
    next_command = "anaphora evaluate {run}"
    example = 'model = anaphora.load("{path}")\nprint(model.generate("...").svg())'
    counted, tiers = "vectors (--task trace)", sizing.TIERS
    choose, describe = staticmethod(sizing.choose), staticmethod(sizing.describe)

    def with_runs(self, experiment: TraceExperiment, parent: object) -> TraceExperiment:
        return experiment if experiment.is_settled else settled(experiment, splits_of(experiment))

    def work(self, experiment: TraceExperiment, report: Report) -> TraceWork:
        return TraceWork(experiment, report)

    def predictor(self, trained: Trained) -> TracePredictor:
        experiment, network = cast(TraceExperiment, trained.experiment), cast(ValueNetwork, trained.model)
        return TracePredictor(network, experiment, trained.tokenizers.get("text"), trained.runtime)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(paths, request, report)


class Synthesis(ValuePrediction):
    """Real-valued sequences written from texts."""

    model, plural = "synthesis", "synthesis networks"
    experiment = SynthesisExperiment
    network = NETWORKS["synthesis"]


TASKS = (ValuePrediction, Synthesis)
