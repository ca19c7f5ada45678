"""Tagging: a label, or several, for every token of a sentence, or for every vector of a sequence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from anaphora.events import Report
from anaphora.models.registry import NETWORKS
from anaphora.models.tagger import Tagger, VectorTagger
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.tag import sizing, vectors
from anaphora.tasks.tag.config import TagExperiment, TaggerExperiment, VectorTaggerExperiment
from anaphora.tasks.tag.data import TaggerWork, token_tokenizer
from anaphora.tasks.tag.evaluation import NOUN, evaluate
from anaphora.tasks.tag.formats import settled
from anaphora.tasks.tag.predictor import Tagged, TaggerPredictor
from anaphora.tasks.tag.vector_predictor import TaggedVectors, VectorTaggerPredictor
from anaphora.tasks.tag.vectors import VectorTaggerWork, tag_encoder
from anaphora.tasks.task import Task, Trained
from anaphora.tasks.work import Work

__all__ = [
    "TASKS",
    "Tagged",
    "TaggedVectors",
    "TaggerExperiment",
    "TaggerPredictor",
    "VectorTaggerExperiment",
    "VectorTaggerPredictor",
]


class TokenTagging(Task):
    """A label, or several, for every token of a sentence."""

    name, model = "tag", "text"
    noun, plural = NOUN, "taggers"
    experiment: ClassVar[type[TagExperiment]] = TaggerExperiment
    network = NETWORKS["tagger"]
    own_formats = True
    see = "see anaphora predict"
    next_command = "echo 'Your text.' | anaphora predict {run} --format text"
    example = 'tagger = anaphora.load("{path}")\nprint(tagger.predict([["A", "man", "walks", "."]])[0].tags)'
    counted, tiers = "tagged sentences", sizing.TIERS
    suits = staticmethod(sizing.suits)
    choose, describe = staticmethod(sizing.choose), staticmethod(sizing.describe)

    def with_runs(self, experiment: Any, parent: object) -> Any:
        return settled(experiment)

    def work(self, experiment: Any, report: Report) -> Work:
        return TaggerWork(experiment, report)

    def predictor(self, trained: Trained) -> Any:
        experiment = cast(TaggerExperiment, trained.experiment)
        tokenizer = token_tokenizer(experiment, trained.tokenizers)
        return TaggerPredictor(cast(Tagger, trained.model), tokenizer, experiment, trained.runtime)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(paths, request, report)


class VectorTagging(TokenTagging):
    """A label, or several, for every vector of a sequence."""

    model, plural = "vectors", "taggers of vectors"
    experiment = VectorTaggerExperiment
    network = NETWORKS["vector-tagger"]
    next_command = "anaphora evaluate {run}"
    example = 'tagger = anaphora.load("{path}")\nprint(tagger.predict([vectors])[0].tags)'

    def with_runs(self, experiment: Any, parent: object) -> Any:
        return experiment if experiment.is_settled else vectors.settled(experiment, vectors.splits_of(experiment))

    def work(self, experiment: Any, report: Report) -> Work:
        return VectorTaggerWork(experiment, report)

    def predictor(self, trained: Trained) -> Any:
        experiment = cast(VectorTaggerExperiment, trained.experiment)
        encoder = tag_encoder(experiment, trained.tokenizers)
        return VectorTaggerPredictor(cast(VectorTagger, trained.model), encoder, experiment, trained.runtime)


TASKS = (TokenTagging, VectorTagging)
