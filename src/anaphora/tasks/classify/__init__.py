"""Classification: texts labelled with one class each."""

from typing import cast

from anaphora.models.classifier import Classifier
from anaphora.models.registry import NETWORKS
from anaphora.tasks.classify import sizing
from anaphora.tasks.classify.config import ClassifierExperiment
from anaphora.tasks.classify.data import ClassifierWork, with_classes
from anaphora.tasks.classify.evaluation import NOUN, evaluate
from anaphora.tasks.classify.predictor import Classification, ClassifierPredictor
from anaphora.tasks.task import Kind, Sizing, Task, Trained

__all__ = ["TASK", "Classification", "ClassifierExperiment", "ClassifierPredictor"]


def _predictor(trained: Trained) -> ClassifierPredictor:
    experiment = cast(ClassifierExperiment, trained.experiment)
    model = cast(Classifier, trained.model)
    return ClassifierPredictor(model, trained.tokenizers["text"], experiment, trained.runtime)


TASK = Task(
    name="classify",
    noun=NOUN,
    kinds={
        "": Kind("classifiers", ClassifierExperiment, NETWORKS["classifier"], ClassifierWork, complete=with_classes)
    },
    predictor=_predictor,
    see="see anaphora predict",
    next_command="echo 'Your text.' | anaphora predict {run}",
    example='classifier = anaphora.load("{path}")\nprint(classifier.predict(["..."])[0].label)',
    tokenizers_of=lambda tokenizers, path: {
        "text": tokenizers["text"] if "text" in tokenizers else tokenizers["source"]
    },
    evaluate=evaluate,
    sizing=Sizing(sizing.suits, sizing.choose, sizing.describe, "labelled texts", sizing.TIERS),
)
"""Classification."""
