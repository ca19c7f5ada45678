"""Classifiers as one graph: a text or a sequence of vectors in, the probability of each class out."""

from typing import Any, cast

from anaphora.export.encoder import Annotated, encoded
from anaphora.export.graph import Graph, Graphs
from anaphora.export.inputs import embedded, scaled
from anaphora.export.parts import Parts
from anaphora.export.tokens import tokens_of
from anaphora.models.classifier import Classifier, PooledClassifier, VectorClassifier, VectorClassifierConfig
from anaphora.tasks.classify.config import ExamplesData
from anaphora.tasks.task import Trained


def graphs_of(trained: Trained) -> Graphs:
    """The graph of a classifier. Raises ConfigError for what has no operators."""
    model, data = trained.model, cast(ExamplesData, trained.experiment.data)
    assert isinstance(model, PooledClassifier)
    classes, graph = model.config.classes, Graph("classifier")
    reads: dict[str, Any] = {"reads": "vectors"}
    if isinstance(model, VectorClassifier):
        x = scaled(graph, cast(VectorClassifierConfig, model.config).vectors)
    else:
        assert isinstance(model, Classifier)
        x = embedded(graph, "embedding", model.embedding, graph.input("ids", ["S"], integers=True))
        reads = {"reads": "text", "tokenizers": {"text": tokens_of(trained, trained.tokenizers["text"])}}
    pooled = _pooled(graph, model, encoded(graph, model.encoder, x))
    scores = Parts(graph, "weights.", model.weights.tensors(), {}).project("output", pooled, bias=True)
    probabilities = graph.node("Sigmoid", scores) if classes.several else graph.node("Softmax", scores, axis=-1)
    graph.output("probabilities", probabilities, [len(classes.names)])
    config = {
        "answers": "classes",
        "names": list(classes.names),
        "thresholds": model.thresholds.tolist() if classes.several else None,
        "separator": data.label_separator,
        "max_length": data.max_length,
    }
    return Graphs({"classifier": graph.model()}, config | reads)


def _pooled(graph: Graph, model: PooledClassifier, found: Annotated) -> str:
    match model.config.classes.pooling:
        case "last":
            return found.summaries[-1]["h"]
        case "mean":
            return graph.mean(found.annotations)
        case "max":
            return graph.node("ReduceMax", found.annotations, graph.constant([0]), keepdims=0)
        case "attention":
            parts = Parts(graph, "weights.", model.weights.tensors(), {})
            u = graph.node("Tanh", parts.project("pool", found.annotations, bias=True))
            weights = graph.node("Softmax", parts.matmul("pool.query", u), axis=0)
            weighted = graph.node("Mul", weights, found.annotations)
            return graph.node("ReduceSum", weighted, graph.constant([0]), keepdims=0)
