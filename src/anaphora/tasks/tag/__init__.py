"""Tagging: a label, or several, for every token of a sentence."""

from typing import Any, cast

from anaphora.models.registry import NETWORKS
from anaphora.models.tagger import Tagger
from anaphora.tasks.tag import sizing
from anaphora.tasks.tag.config import TaggerExperiment
from anaphora.tasks.tag.data import TaggerWork, token_tokenizer
from anaphora.tasks.tag.evaluation import NOUN, evaluate
from anaphora.tasks.tag.formats import settled
from anaphora.tasks.tag.predictor import Tagged, TaggerPredictor
from anaphora.tasks.task import Kind, Sizing, Task, Trained, no_vocabulary

__all__ = ["TASK", "Tagged", "TaggerExperiment", "TaggerPredictor"]


def _predictor(trained: Trained) -> TaggerPredictor:
    experiment = cast(TaggerExperiment, trained.experiment)
    tokenizer = token_tokenizer(experiment, trained.tokenizers)
    return TaggerPredictor(cast(Tagger, trained.model), tokenizer, experiment, trained.runtime)


def _complete(experiment: TaggerExperiment, parent: Any) -> TaggerExperiment:
    return settled(experiment)


TASK = Task(
    name="tag",
    noun=NOUN,
    kinds={"": Kind("taggers", TaggerExperiment, NETWORKS["tagger"], TaggerWork, complete=_complete)},
    predictor=_predictor,
    see="see anaphora predict",
    next_command="echo 'Your text.' | anaphora predict {run} --format text",
    example='tagger = anaphora.load("{path}")\nprint(tagger.predict([["A", "man", "walks", "."]])[0].tags)',
    tokenizers_of=no_vocabulary(NOUN),
    evaluate=evaluate,
    own_formats=True,
    sizing=Sizing(sizing.suits, sizing.choose, sizing.describe, "tagged sentences", sizing.TIERS),
)
"""Tagging."""
