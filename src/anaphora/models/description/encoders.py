"""Embeddings, encoders, and what a decoder starts from, as operations on whole sequences."""

from typing import Any, NamedTuple

from torch import nn

from anaphora.errors import ConfigError
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location
from anaphora.models.description.graph import Graph
from anaphora.nn.decoder import Decoder
from anaphora.nn.embedding import Embedding
from anaphora.nn.encoders.cnn import CnnEncoder
from anaphora.nn.encoders.convolution import ConvolutionEncoder
from anaphora.nn.encoders.encoder import Encoder
from anaphora.nn.encoders.gated_convolution import GatedConvolutionEncoder
from anaphora.nn.encoders.grid import GridEncoder
from anaphora.nn.encoders.ngram_convolution import NgramConvolutionEncoder
from anaphora.nn.encoders.none import NoEncoder
from anaphora.nn.encoders.recurrent import RecurrentEncoder
from anaphora.nn.spelling import CharacterEncoder, Spelling


def embed(graph: Graph, embedding: nn.Module, ids: str) -> str:
    """Return the vectors of ids: rows of a table, or composed from the characters of the words."""
    if isinstance(embedding, Embedding):
        norm = {"norm": embedding.norm.radius} if embedding.norm.radius else {}
        return graph.add("embed", ids, table=graph.names.of(embedding.weight), scale=embedding.scale, **norm)
    assert isinstance(embedding, Spelling)
    rows = zip(embedding.characters_VL.tolist(), embedding.lengths_V.tolist(), strict=True)
    return graph.add("spell", ids, words=[row[:length] for row, length in rows], **_spelling(graph, embedding))


def spell(graph: Graph, encoder: CharacterEncoder) -> str:
    """Return the vectors of words by their characters, which the batch has."""
    return graph.add("spell", "characters", words=[], **_spelling(graph, encoder))


def _spelling(graph: Graph, encoder: CharacterEncoder) -> dict[str, Any]:
    config = encoder.config
    return {"weights": graph.names.prefix(encoder.weights), "widths": config.max_kernel, "highways": config.highways}


class Encoded(NamedTuple):
    """Signals of an encoded sequence."""

    annotations: str
    """One for each position; empty for an encoder that gives none."""
    summaries: list[dict[str, str]]
    """The sequence as a whole, a vector by field: one for each layer, from the bottom up."""
    words: str = ""
    """Signal of the vectors of words, where it has some."""
    features: str = ""
    """The sum of the vectors of features, where it has some."""


def encode(graph: Graph, encoder: Encoder, x: str) -> Encoded:
    """Return the signals of an encoder over vectors; ConfigError for one that has no description."""
    match encoder:
        case RecurrentEncoder():
            return _recurrent(graph, encoder, x)
        case NoEncoder():
            return Encoded(x, [{"h": graph.add("last", x)}])
    weights = encoder.weights.tensors()
    match encoder:
        case GridEncoder(config=config):
            if config.layer != "none":
                x = graph.project(weights, "grid", x)
            if config.layer in ("tanh", "relu"):
                x = graph.add(config.layer, x)
            if config.positions:
                x = graph.add("add_rows", x, weight=graph.names.of(weights["positions.weight"]))
            return Encoded(x, [{"h": graph.add("mean", x)}])
        case CnnEncoder(config=config):
            sums = []
            for width in config.widths:
                own = {name: graph.names.of(weights[f"width{width}.{name}"]) for name in ("weight", "bias")}
                sums.append(graph.add("convolve", x, width=width, **own))
            x = graph.add("relu", graph.join(sums))
            return Encoded(x, [{"h": graph.add("last", x)}])
        case GatedConvolutionEncoder():
            h = graph.add("gated_convolution", graph.project(weights, "input", x), weights=_prefix(graph, encoder))
        case ConvolutionEncoder(config=config):
            h = graph.add("convolution", x, weights=_prefix(graph, encoder), widest=config.max_kernel)
        case NgramConvolutionEncoder(config=config):
            lengths = graph.names.of(encoder.lengths.observed)
            options = {"widest": config.max_kernel, "folds": config.folds, "lengths": lengths}
            h = graph.add("ngram_convolution", x, weights=_prefix(graph, encoder), **options)
        case _:
            raise ConfigError(f"An encoder {type(encoder).__name__} has no description: train a run without it.")
    return Encoded("", [{"h": h}])


def _prefix(graph: Graph, encoder: Encoder) -> str:
    return graph.names.prefix(encoder.weights)


def _recurrent(graph: Graph, encoder: RecurrentEncoder, x: str) -> Encoded:
    config, summaries = encoder.config, list[dict[str, str]]()
    kept = {"both": slice(0, 2), "backward": slice(0, 1), "forward": slice(1, 2)}[config.sentence_encoding_from]
    if config.reversed:
        x = graph.add("reverse", x, but=1)
    for layer in range(config.layers):
        outputs, states = [], list[dict[str, str]]()
        for way in encoder.directions:
            stack, forward = encoder.stack(layer, way), way == "left_to_right"
            carried = stack.program.carried
            given = x if forward else graph.add("reverse", x, but=0)
            h, *last = graph.add_several("scan", (given,), ["", *carried], graph.names.stack(stack))
            outputs.append(h if forward else graph.add("reverse", h, but=0))
            states.append({name.removeprefix("layer0."): one for name, one in zip(carried, last, strict=True)})
        both = graph.join(outputs)
        x = graph.add("add", both, x) if config.residual and layer else both
        summaries.append({field: graph.join([state[field] for state in states[kept]]) for field in config.cell.state})
    return Encoded(graph.add("reverse", x, but=1) if config.reversed else x, summaries)


def start(graph: Graph, decoder: Decoder, encoded: Encoded) -> tuple[dict[str, str], dict[str, str]]:
    """Return the signals of the memory of a decoder by their names, and of its initial state by carried signal."""
    annotations, summaries, words, features = encoded
    summaries = decoder.bridge.summaries(graph, summaries, decoder.weights.tensors())
    summary = summaries[-1]["h"]
    state = decoder.start(graph, annotations or summary, summaries)
    if decoder.attention:
        memory = _attention_memory(graph, decoder, annotations)
        if decoder.spec.words:
            memory = decoder.add_words(memory, graph.add("rows_first", words, transposed=False))
        if decoder.alignments:
            positions = decoder.project_positions(graph, annotations)
            memory |= {name: graph.add("rows_first", of, transposed=False) for name, of in positions.items()}
    else:
        memory = decoder.project_summary(graph, summary)
    return memory | decoder.project_features(graph, features), state


def _attention_memory(graph: Graph, decoder: Decoder, annotations: str) -> dict[str, str]:
    """Return the memory of attention: values, the keys of the score, and which positions there are."""
    assert decoder.attention
    score: Any = getattr(decoder.attention.config, "score", None)
    memory = {"attention.values": graph.add("rows_first", annotations, transposed=False)}
    keys, weights = annotations, decoder.weights.tensors()
    if "attention.memory" in weights:
        keys = graph.add("project", keys, weight=graph.names.of(weights["attention.memory"]), bias="")
    match score:
        case Dot() | General():
            memory["attention.keys"] = graph.add("rows_first", keys, transposed=True)
        case Concat() | Hybrid() if keys != annotations:
            memory["attention.keys"] = graph.add("rows_first", keys, transposed=False)
    reach = score.max_length if isinstance(score, Location) else 0
    for name in ("closed", "length"):
        memory[f"attention.{name}"] = graph.add(name, annotations, reach=reach)
    return memory
