"""A classifier measured on its own test splits, or on its validation split if there are none."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from anaphora.evaluation.classification import ClassificationScores, classification_scores
from anaphora.events import Report
from anaphora.run.evaluations import Figure
from anaphora.tasks.classify.config import ClassifierExperiment
from anaphora.tasks.classify.data import splits_of
from anaphora.tasks.classify.predictor import ClassifierPredictor
from anaphora.tasks.evaluation import Answer, Request, Scored, check_found, one_run, splits_to_score
from anaphora.tasks.runs import experiment_of, load, open_run
from anaphora.tasks.scores import keep_scores
from anaphora.wording import counted

NOUN = "a classifier"


def evaluate(paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """Accuracy, macro-F1, loss, calibration and confusion of one run on ``splits_to_score``; kept in the run.

    Raises ConfigError for what a classifier has no use for.
    """
    path = one_run(paths, NOUN)
    request.refuse(path, NOUN, ())
    experiment = cast(ClassifierExperiment, experiment_of(path))
    check_found(path, experiment, "data.files")
    splits = splits_to_score(splits_of(experiment), "a file whose name begins with test", report)
    run = open_run(path, experiment)
    which = run.load("best", report).which
    model: ClassifierPredictor = load(path, which)
    results: dict[str, ClassificationScores] = {}
    for name, corpus in splits.items():
        examples = list(corpus.examples())
        found = model.predict_stream([example.text for example in examples], report=report)
        probabilities = np.array([[one.probabilities[label] for label in model.labels] for one in found])
        classes = [model.labels.index(example.label) for example in examples]
        results[name] = classification_scores(model.labels, classes, probabilities)
    if request.keep:
        digests = {name: splits[name].fingerprint for name in results}
        keep_scores(run, which, {name: _figures(scores) for name, scores in results.items()}, digests, report)
    return Answer([Scored(str(path), results)])


def _figures(scores: ClassificationScores) -> tuple[Figure, ...]:
    how = f"{counted(scores.count, 'text')}, {counted(len(scores.labels), 'class')}"
    return (
        Figure("accuracy", scores.accuracy, how),
        Figure("macro-F1", scores.macro_f1, how),
        Figure("loss", scores.loss, how),
        Figure("calibration error", scores.calibration_error, f"{how}, 10 bins"),
    )
