"""The networks as data, by their kind."""

from dataclasses import asdict

from torch import nn

from anaphora.errors import ConfigError
from anaphora.models.alignment.aligner import Aligner
from anaphora.models.classifier import PooledClassifier, VectorClassifier
from anaphora.models.description.encoders import Encoded, embed, encode, spell, start
from anaphora.models.description.graph import Graph, Names, Table
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.feed_forward import FeedForwardLanguageModel
from anaphora.models.interpolation.model import Interpolation
from anaphora.models.language_model import LanguageModel
from anaphora.models.ngram.model import NgramModel
from anaphora.models.sequence_network import SequenceNetwork
from anaphora.models.tagger import StepTagger, Tagger, VectorTagger
from anaphora.models.translator import Translator
from anaphora.models.values import PredictionNetwork, SynthesisNetwork, ValueNetwork
from anaphora.nn.outputs.adaptive import AdaptiveOutput
from anaphora.nn.outputs.class_factored import ClassFactoredOutput
from anaphora.nn.outputs.full import FullOutput
from anaphora.nn.outputs.hierarchical import HierarchicalOutput
from anaphora.nn.outputs.output import EstimatedOutput, Output, SoftmaxOutput
from anaphora.nn.outputs.pointer_generator import PointerGeneratorOutput
from anaphora.nn.outputs.tags import LinearChainTags, SigmoidTags
from anaphora.nn.outputs.values import MixtureOutput


def describe(model: nn.Module, names: Names | None = None) -> Table:
    """Return a trained network as JSON-able data, with which ``inference.network.open_network`` computes.

    Weights are named as a checkpoint names them (``run.weights.tensors_of``). Raises ConfigError, naming the option,
    for a network that has no description. ``names`` are given where it is a member of another.
    """
    names = names or Names(model)
    match model:
        case EncoderDecoder():
            return _encoder_decoder(names, model)
        case LanguageModel():
            return _language_model(names, model)
        case FeedForwardLanguageModel():
            return _feed_forward(names, model)
        case PooledClassifier():
            return _classifier(names, model)
        case StepTagger():
            return _tagger(names, model)
        case ValueNetwork():
            return _value_network(names, model)
        case NgramModel():
            orders = [[names.of(tensor) for tensor in order] for order in model.tensors]
            return {"kind": "ngram", "symbols": list(model.symbols), "orders": orders}
        case Interpolation():
            return {
                "kind": "interpolation",
                "symbols": list(model.symbols),
                "members": [describe(member, names) for member in model.members],
                "cache": asdict(model.cache) if model.cache.order else {},
                "weights": names.of(model.weights),
            }
        case Aligner():
            return {
                "kind": "aligner",
                "config": model.config.model_dump(exclude={"model1_iterations", "max_word_pairs"}),
                **{
                    side: {"size": one.size, **_of(names, one, "keys", "probs", "jumps")}
                    for side, one in (("to_target", model.to_target), ("to_source", model.to_source))
                },
            }
    raise ConfigError(f"A network {type(model).__name__} has no description: use the run itself, with PyTorch.")


def _encoder_decoder(names: Names, model: EncoderDecoder) -> Table:
    graph, fused = Graph(names), model.language_model
    x, features = "values", ""
    if isinstance(model, Translator):
        x = embed(graph, model.source_embedding, "ids")
        if model.decoder.spec.features:
            features = graph.add("sum_known", embed(graph, model.source_embedding, "features"), "features")
    return {
        "kind": "encoder-decoder",
        "symbols": list(model.symbols),
        **_decoder(graph, model, encode(graph, model.encoder, x)._replace(words=x, features=features)),
        "embedding": _embedding(names, model.written),
        "output": _output(names, model.output),
        "language_model": fused
        and {**names.stack(fused.recurrence), "embedding": _embedding(names, fused.embedding), "begin": fused.begin},
    }


def _decoder(graph: Graph, model: EncoderDecoder | SynthesisNetwork, encoded: Encoded) -> Table:
    """Return an encoder, and the step of a decoder over what it gives."""
    memory, state = start(graph, model.decoder, encoded)
    signals = {f"memory {name}": signal for name, signal in memory.items()}
    signals |= {f"state {name}": signal for name, signal in state.items()}
    step = graph.names.step(model.decoder.program, model.decoder.weights)
    if model.decoder.alignments:
        step["alignments"] = model.decoder.alignments._asdict()
    return {"encoder": graph.data(signals), "decoder": step}


def _language_model(names: Names, model: LanguageModel) -> Table:
    return {
        "kind": "recurrent-language-model",
        "symbols": list(model.symbols),
        "reads": model.config.reads,
        "embedding": _embedding(names, model.embedding),
        "recurrence": names.stack(model.recurrence),
        "output": _output(names, model.output),
    }


def _feed_forward(names: Names, model: FeedForwardLanguageModel) -> Table:
    graph = Graph(names)
    x, body = embed(graph, model.embedding, "ids"), model.window
    states = body.config.states(graph, x, body.weights.tensors())
    return {
        "kind": "feed-forward-language-model",
        "symbols": list(model.symbols),
        "steps": model.config.network.steps,
        "window": graph.data({"states": states}),
        "output": _output(names, model.output),
    }


def _classifier(names: Names, model: PooledClassifier) -> Table:
    graph, weights, classes = Graph(names), model.weights.tensors(), model.config.classes
    encoded = encode(graph, model.encoder, _vectors(graph, model))
    match classes.pooling:
        case "last":
            pooled = encoded.summaries[-1]["h"]
        case "attention":
            u = graph.add("tanh", graph.project(weights, "pool", encoded.annotations))
            scores = graph.add("project", u, weight=names.of(weights["pool.query"]), bias="")
            pooled = graph.add("attention_pool", encoded.annotations, scores)
        case pooling:
            pooled = graph.add(pooling, encoded.annotations)
    return {
        "kind": "classifier",
        "graph": graph.data({"scores": graph.project(weights, "output", pooled)}),
        "names": list(classes.names),
        "thresholds": names.of(model.thresholds_C) if classes.several else "",
    }


def _vectors(graph: Graph, model: SequenceNetwork) -> str:
    """Return the vectors that the encoder of a classifier or tagger reads."""
    config = model.config
    match model:
        case VectorClassifier() | VectorTagger():
            scale = config.vectors
            return graph.add("standardize", "values", mean=list(scale.mean), deviation=list(scale.deviation))
        case Tagger(characters=characters) if characters is not None:
            return graph.join([embed(graph, model.embedding, "ids"), spell(graph, characters)])
    return embed(graph, model.embedding, "ids")  # type: ignore[arg-type]


def _tagger(names: Names, model: StepTagger) -> Table:
    graph, output = Graph(names), model.output
    annotations = encode(graph, model.encoder, _vectors(graph, model)).annotations
    table: Table = {
        "kind": "tagger",
        "graph": graph.data({"scores": graph.project(output.weights.tensors(), "tags", annotations)}),
        "several": isinstance(output, SigmoidTags),
        "chain": {},
    }
    if isinstance(output, LinearChainTags):
        weights = output.weights.tensors()
        for name, mask in output.barred.items():
            scores = {"weight": names.of(weights[name]), "barred": mask.flatten().nonzero().flatten().tolist()}
            table["chain"][name.removeprefix("chain.")] = scores
    return table


def _value_network(names: Names, model: ValueNetwork) -> Table:
    output = model.output
    shape = output.shape if isinstance(output, MixtureOutput) else None
    table: Table = {
        "size": output.size,
        "flags": output.flags,
        "mixture": shape and asdict(shape),
        "output": names.prefix(output.weights),
    }
    if isinstance(model, SynthesisNetwork):
        graph = Graph(names)
        encoded = encode(graph, model.encoder, embed(graph, model.embedding, "ids"))
        return {"kind": "synthesis", **table, **_decoder(graph, model, encoded)}
    assert isinstance(model, PredictionNetwork)
    return {"kind": "prediction", **table, "recurrence": names.stack(model.recurrence)}


def _embedding(names: Names, embedding: nn.Module) -> Table:
    """Return the vectors that a step reads, as the graph of a row of ids."""
    graph = Graph(names)
    return graph.data({"x": embed(graph, embedding, "ids")})


def _output(names: Names, output: Output) -> Table:
    """Return an output layer as data: what log-probabilities are computed from."""
    match output:
        case SoftmaxOutput():
            never = list(output.text.unwritten) if isinstance(output, EstimatedOutput) else []
            own = _of(names, output, "weight", "bias") | {"never": never}
            own |= {"norm": output.norm._asdict()} if output.norm.radius else {}
            lexical = isinstance(output, FullOutput) and output.lexical
            return {"kind": "softmax", **own, **(_of(names, output, "lexical_weight") if lexical else {})}
        case PointerGeneratorOutput():
            return {"kind": "pointer-generator", **_of(names, output, "weight", "bias"), "never": []}
        case ClassFactoredOutput():
            own = _of(names, output, "weight", "bias", "class_weight", "class_bias")
            return {"kind": "class-factored", **own, "classes": output.classes.class_V.tolist()}
        case HierarchicalOutput():
            levels = [inner_L.tolist() for inner_L in output.tree.levels]
            own = _of(names, output, "nodes", "bias")
            return {"kind": "hierarchical", **own, "levels": levels, "leaves": output.tree.leaf_V.tolist()}
        case AdaptiveOutput():
            return {
                "kind": "adaptive",
                "weights": names.prefix(output.weights),
                "tails": output.tails,
                "ranks": output.ranks.tolist(),
            }
    raise ConfigError(f"The output layer {type(output).__name__} has no description: train a run without it.")


def _of(names: Names, module: nn.Module, *attributes: str) -> Table:
    return {attribute: names.of(getattr(module, attribute)) for attribute in attributes}
