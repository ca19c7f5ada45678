"""A classifier measured on given data, or on its own test or validation split."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from anaphora.data.labelled import LabelledCorpus, labelled_corpus
from anaphora.evaluation.classification import SeveralLabelScores
from anaphora.events import Report
from anaphora.run.evaluations import Figure
from anaphora.tasks.classify.config import ClassifierExperiment, ClassifyExperiment
from anaphora.tasks.classify.data import format_of, splits_of
from anaphora.tasks.classify.predictor import ClassifierPredictor, VectorClassifierPredictor
from anaphora.tasks.classify.targets import Scores, scores_of, targets_of
from anaphora.tasks.evaluation import Answer, Request, check_found, one_run, splits_to_score
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import scored
from anaphora.wording import counted

NOUN = "a classifier"


def evaluate(paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """The metrics of one run on given data or on ``splits_to_score``; kept in the run.

    Raises ConfigError for what a classifier has no use for, DataError with its line for a label that training does not
    have.
    """
    path = one_run(paths, NOUN)
    experiment = cast(ClassifyExperiment, experiment_of(path))
    of_texts = isinstance(experiment, ClassifierExperiment) and request.data is not None
    request.refuse(path, NOUN, ("data", "columns") if of_texts else ("data",))
    corpora = _corpora(path, experiment, request, report)
    score = partial(_scores, report=report)
    return Answer([scored(path, lambda model: corpora, score, _figures, request, report)])


def _corpora(
    path: Path, experiment: ClassifyExperiment, request: Request, report: Report
) -> Mapping[str, LabelledCorpus]:
    """The labelled texts that are asked for, by name."""
    if request.data is not None:
        format_ = format_of(request.reading(experiment))
        return {request.data.name: labelled_corpus(request.data, experiment.classes.names, format_)}
    check_found(path, experiment, "--data")
    return splits_to_score(splits_of(experiment), "--data", report)


def _scores(model: ClassifierPredictor | VectorClassifierPredictor, corpus: LabelledCorpus, report: Report) -> Scores:
    examples = list(corpus.examples())
    given = [example.text if example.values_TD is None else example.vectors for example in examples]
    found = model.predict_stream(cast(Any, given), report=report)
    probabilities_NC = np.array([list(one.probabilities.values()) for one in found])
    targets = targets_of(model.model.config.classes, [example.labels for example in examples])
    return scores_of(model.model, targets, probabilities_NC)


def _figures(scores: Scores) -> tuple[Figure, ...]:
    """What a run folder keeps."""
    if isinstance(scores, SeveralLabelScores):
        how = f"{counted(scores.count, 'example')}, {counted(len(scores.by_label), 'label')}"
        first = [Figure("micro-F1", scores.micro_f1, how), Figure("exact matches", scores.accuracy, how)]
    else:
        how = f"{counted(scores.count, 'example')}, {counted(len(scores.labels), 'class')}"
        first = [
            Figure("accuracy", scores.accuracy, how),
            Figure("calibration error", scores.calibration_error, f"{how}, {counted(len(scores.reliability), 'bin')}"),
        ]
    return (*first, Figure("macro-F1", scores.macro_f1, how), Figure("loss", scores.loss, how))
