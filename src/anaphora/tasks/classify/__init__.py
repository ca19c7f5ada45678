"""Classification: texts or sequences of vectors, with one class or several labels each."""

from typing import cast

from anaphora.models.classifier import Classifier, VectorClassifier
from anaphora.models.registry import NETWORKS
from anaphora.tasks.classify import sizing
from anaphora.tasks.classify.config import ClassifierExperiment, VectorClassifierExperiment
from anaphora.tasks.classify.data import ClassifierWork, VectorWork, settled, splits_of
from anaphora.tasks.classify.evaluation import NOUN, evaluate
from anaphora.tasks.classify.predictor import Classification, ClassifierPredictor, VectorClassifierPredictor
from anaphora.tasks.task import Kind, Sizing, Task, Trained, by_data

__all__ = [
    "TASK",
    "Classification",
    "ClassifierExperiment",
    "ClassifierPredictor",
    "VectorClassifierExperiment",
    "VectorClassifierPredictor",
]


def _predictor(trained: Trained) -> ClassifierPredictor | VectorClassifierPredictor:
    if isinstance(trained.experiment, VectorClassifierExperiment):
        return VectorClassifierPredictor(cast(VectorClassifier, trained.model), trained.experiment, trained.runtime)
    experiment = cast(ClassifierExperiment, trained.experiment)
    model = cast(Classifier, trained.model)
    return ClassifierPredictor(model, trained.tokenizers["text"], experiment, trained.runtime)


_complete = by_data(splits_of, settled)
TASK = Task(
    name="classify",
    noun=NOUN,
    kinds={
        "text": Kind("classifiers", ClassifierExperiment, NETWORKS["classifier"], ClassifierWork, complete=_complete),
        "vectors": Kind(
            "classifiers of vectors",
            VectorClassifierExperiment,
            NETWORKS["vector-classifier"],
            VectorWork,
            complete=_complete,
            next_command="anaphora evaluate {run}",
            example='classifier = anaphora.load("{path}")\nprint(classifier.predict([vectors])[0].label)',
        ),
    },
    predictor=_predictor,
    see="see anaphora predict",
    next_command="echo 'Your text.' | anaphora predict {run}",
    example='classifier = anaphora.load("{path}")\nprint(classifier.predict(["..."])[0].label)',
    tokenizers_of=lambda tokenizers, path: {
        "text": tokenizers["text"] if "text" in tokenizers else tokenizers["source"]
    },
    evaluate=evaluate,
    sizing=Sizing(sizing.choose, sizing.describe, "labelled texts", sizing.TIERS),
)
"""Classification."""
