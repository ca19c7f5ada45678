"""Tagging: a label, or several, for every token of a sentence, or for every vector of a sequence."""

from typing import cast

from anaphora.models.registry import NETWORKS
from anaphora.models.tagger import Tagger, VectorTagger
from anaphora.tasks.tag import sizing, vectors
from anaphora.tasks.tag.config import TaggerExperiment, VectorTaggerExperiment
from anaphora.tasks.tag.data import TaggerWork, token_tokenizer
from anaphora.tasks.tag.evaluation import NOUN, evaluate
from anaphora.tasks.tag.formats import settled
from anaphora.tasks.tag.predictor import Tagged, TaggerPredictor
from anaphora.tasks.tag.vector_predictor import TaggedVectors, VectorTaggerPredictor
from anaphora.tasks.tag.vectors import VectorTaggerWork, tag_encoder
from anaphora.tasks.task import Kind, Sizing, Task, Trained, by_data, no_vocabulary

__all__ = [
    "TASK",
    "Tagged",
    "TaggedVectors",
    "TaggerExperiment",
    "TaggerPredictor",
    "VectorTaggerExperiment",
    "VectorTaggerPredictor",
]


def _predictor(trained: Trained) -> TaggerPredictor | VectorTaggerPredictor:
    if isinstance(trained.experiment, VectorTaggerExperiment):
        encoder = tag_encoder(trained.experiment, trained.tokenizers)
        return VectorTaggerPredictor(cast(VectorTagger, trained.model), encoder, trained.experiment, trained.runtime)
    experiment = cast(TaggerExperiment, trained.experiment)
    tokenizer = token_tokenizer(experiment, trained.tokenizers)
    return TaggerPredictor(cast(Tagger, trained.model), tokenizer, experiment, trained.runtime)


TASK = Task(
    name="tag",
    noun=NOUN,
    kinds={
        "text": Kind(
            "taggers",
            TaggerExperiment,
            NETWORKS["tagger"],
            TaggerWork,
            complete=lambda experiment, parent: settled(experiment),
        ),
        "vectors": Kind(
            "taggers of vectors",
            VectorTaggerExperiment,
            NETWORKS["vector-tagger"],
            VectorTaggerWork,
            complete=by_data(vectors.splits_of, vectors.settled),
            next_command="anaphora evaluate {run}",
            example='tagger = anaphora.load("{path}")\nprint(tagger.predict([vectors])[0].tags)',
        ),
    },
    predictor=_predictor,
    see="see anaphora predict",
    next_command="echo 'Your text.' | anaphora predict {run} --format text",
    example='tagger = anaphora.load("{path}")\nprint(tagger.predict([["A", "man", "walks", "."]])[0].tags)',
    tokenizers_of=no_vocabulary(NOUN),
    evaluate=evaluate,
    own_formats=True,
    sizing=Sizing(sizing.choose, sizing.describe, "tagged sentences", sizing.TIERS, sizing.suits),
)
"""Tagging."""
