"""Taggers as one graph: words or vectors in, a score for each tag of each out; of a CRF its other scores, too."""

from typing import Any, cast

from anaphora.export.encoder import encoded
from anaphora.export.graph import Graph, Graphs
from anaphora.export.inputs import embedded, scaled, spelt
from anaphora.export.parts import Parts
from anaphora.export.tokens import spaces_of
from anaphora.formats.tokens import PATTERN
from anaphora.models.tagger import StepTagger, Tagger, VectorTagger
from anaphora.nn.outputs.tags import LinearChainTags
from anaphora.tasks.task import Trained
from anaphora.text.words import WordTokenizer


def graphs_of(trained: Trained) -> Graphs:
    """The graph of a tagger. Raises ConfigError for what has no operators."""
    model, graph = trained.model, Graph("tagger")
    assert isinstance(model, StepTagger)
    reads: dict[str, Any] = {"reads": "vectors"}
    if isinstance(model, VectorTagger):
        x = scaled(graph, model.config.vectors)
    else:
        assert isinstance(model, Tagger)
        x, reads = _words(graph, model), _vocabularies(trained, model)
    annotations = encoded(graph, model.encoder, x).annotations
    tags = Parts(graph, "output.weights.", model.output.weights.tensors(), {})
    names = list(cast(WordTokenizer, trained.tokenizers["tags"]).vocabulary)
    graph.output("scores", tags.project("tags", annotations, bias=True), ["S", len(names)])
    if isinstance(model.output, LinearChainTags):
        for name, scores in zip(("transitions", "first", "last"), model.output.chain(), strict=True):
            graph.output(name, graph.weight(f"output.weights.chain.{name}", scores), list(scores.shape))
    config = {"answers": "tags", "names": names, "output": model.config.output.kind}
    return Graphs({"tagger": graph.model()}, config | reads)


def _words(graph: Graph, model: Tagger) -> str:
    x = embedded(graph, "embedding", model.embedding, graph.input("ids", ["S"], integers=True))
    return x if model.characters is None else graph.join([x, spelt(graph, model.characters)])


def _vocabularies(trained: Trained, model: Tagger) -> dict[str, Any]:
    words, characters = (cast(WordTokenizer, trained.tokenizers[side]) for side in ("text", "characters"))
    return {
        "reads": "words",
        "pattern": PATTERN,
        "words": list(words.vocabulary),
        "lowercase": words.lowercase,
        "spaces": spaces_of(words),
        "characters": list(characters.vocabulary),
        "max_length": model.characters.config.max_length if model.characters else 0,
    }
