"""A describer measured on its own test splits, or on its validation split if there are none."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

from anaphora.data.captioned import CaptionCorpus
from anaphora.evaluation.descriptions import DescriptionScores, description_scores
from anaphora.events import Report
from anaphora.run.evaluations import Figure
from anaphora.tasks.describe.config import DescriberExperiment
from anaphora.tasks.describe.data import splits_of
from anaphora.tasks.describe.predictor import DescriberPredictor
from anaphora.tasks.evaluation import Answer, Request, check_found, one_run, splits_to_score
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import scored
from anaphora.wording import counted

NOUN = "a describer"


def evaluate(paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """BLEU and CIDEr-D with several references, and exact match with any, of one run on ``splits_to_score``; kept.

    Raises ConfigError for what a describer has no use for.
    """
    path = one_run(paths, NOUN)
    request.refuse(path, NOUN, ("search",))
    experiment = cast(DescriberExperiment, experiment_of(path))
    check_found(path, experiment, "data.files")
    splits = splits_to_score(splits_of(experiment), "captions whose file begins with test", report)
    beam = request.search.beam or experiment.evaluation.beam

    def score(model: DescriberPredictor, corpus: CaptionCorpus) -> DescriptionScores:
        references = corpus.references()
        found = model.predict_stream([corpus.features[image] for image in references], beam=beam, report=report)
        texts = [description.text for description in found]
        return description_scores(texts, list(references.values()), language=experiment.data.language)

    figures = partial(_figures, beam=beam)
    return Answer([scored(path, lambda model: splits, score, figures, request, report)])


def _figures(scores: DescriptionScores, beam: int) -> tuple[Figure, ...]:
    how = f"{counted(scores.count, 'image')}, {counted(scores.references, 'reference')}, beam {beam}"
    return (
        Figure("BLEU", scores.bleu.value, f"{how}; {scores.bleu.signature}"),
        Figure("CIDEr-D", scores.cider, how),
        Figure("exact match", scores.exact_match, f"{how}, any reference"),
    )
