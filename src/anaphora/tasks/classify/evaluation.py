"""A classifier measured on its own test splits."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from anaphora.errors import DataError
from anaphora.evaluation.classification import ClassificationScores, classification_scores
from anaphora.events import Report
from anaphora.run.evaluations import Figure
from anaphora.tasks.classify.config import ClassifierExperiment
from anaphora.tasks.classify.data import splits_of
from anaphora.tasks.classify.predictor import ClassifierPredictor
from anaphora.tasks.evaluation import Answer, Request, Scored, check_found, one_run
from anaphora.tasks.runs import experiment_of, load, open_run
from anaphora.tasks.scores import keep_scores

NOUN = "a classifier"


def evaluate(paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """Accuracy, macro-F1, loss, calibration and confusion of one run on every test split; kept in the run.

    Raises ConfigError for what a classifier has no use for, DataError where the data has no test split.
    """
    path = one_run(paths, NOUN)
    request.refuse(path, NOUN, ())
    experiment = cast(ClassifierExperiment, experiment_of(path))
    check_found(path, experiment, "data.files")
    splits = splits_of(experiment)
    if not splits.tests:
        raise DataError(
            f"The data of {path} has no test split: add a file whose name begins with test, or set data.test."
        )
    run = open_run(path, experiment)
    which = run.load("best", report).which
    model: ClassifierPredictor = load(path, which)
    results: dict[str, ClassificationScores] = {}
    for name, corpus in splits.tests.items():
        examples = list(corpus.examples())
        found = model.predict_stream([example.text for example in examples], report=report)
        probabilities = np.array([[one.probabilities[label] for label in model.labels] for one in found])
        classes = [model.labels.index(example.label) for example in examples]
        results[name] = classification_scores(model.labels, classes, probabilities)
    if request.keep:
        digests = {name: splits.tests[name].fingerprint for name in results}
        keep_scores(run, which, {name: _figures(scores) for name, scores in results.items()}, digests, report)
    return Answer([Scored(str(path), results)])


def _figures(scores: ClassificationScores) -> tuple[Figure, ...]:
    how = f"{scores.count:,} texts, {len(scores.labels)} classes"
    return (
        Figure("accuracy", scores.accuracy, how),
        Figure("macro-F1", scores.macro_f1, how),
        Figure("loss", scores.loss, how),
        Figure("calibration error", scores.calibration_error, f"{how}, 10 bins"),
    )
