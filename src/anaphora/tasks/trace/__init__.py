"""Real-valued sequences: pen strokes and signals predicted, drawn, and written from texts."""

from typing import cast

from anaphora.models.registry import NETWORKS
from anaphora.models.values import ValueNetwork
from anaphora.tasks.task import Kind, Sizing, Task, Trained, by_data, no_vocabulary
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
    "TASK",
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


def _predictor(trained: Trained) -> TracePredictor:
    experiment = cast(TraceExperiment, trained.experiment)
    network = cast(ValueNetwork, trained.model)
    return TracePredictor(network, experiment, trained.tokenizers.get("text"), trained.runtime)


_complete = by_data(splits_of, settled)
TASK = Task(
    name="trace",
    noun=NOUN,
    kinds={
        "prediction": Kind(
            "prediction networks", PredictionExperiment, NETWORKS["prediction"], TraceWork, complete=_complete
        ),
        "synthesis": Kind(
            "synthesis networks", SynthesisExperiment, NETWORKS["synthesis"], TraceWork, complete=_complete
        ),
    },
    predictor=_predictor,
    see="see anaphora draw",
    next_command="anaphora evaluate {run}",
    example='model = anaphora.load("{path}")\nprint(model.generate("...").svg())',
    tokenizers_of=no_vocabulary(NOUN),
    evaluate=evaluate,
    sizing=Sizing(sizing.choose, sizing.describe, "vectors (--task trace)", sizing.TIERS),
)
"""Real-valued sequences."""
