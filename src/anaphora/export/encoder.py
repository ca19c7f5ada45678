"""Encoders as ONNX operators, for one sequence: no padding, so nothing is masked or turned."""

from typing import Any, NamedTuple

from anaphora.export.graph import Graph, unsupported
from anaphora.export.parts import Parts
from anaphora.nn.encoders.cnn import CnnEncoder
from anaphora.nn.encoders.encoder import Encoder
from anaphora.nn.encoders.grid import GridEncoder
from anaphora.nn.encoders.none import NoEncoder
from anaphora.nn.encoders.recurrent import RecurrentEncoder

_END = 1 << 40


class Annotated(NamedTuple):
    """Annotations and sentence encodings of a sequence."""

    annotations: str
    """S x M."""
    summaries: list[dict[str, str]]
    """The sequence as a whole, a vector by field: one for each layer, from the bottom up."""


def encoded(graph: Graph, encoder: Encoder, x: str) -> Annotated:
    """Return an encoder over vectors (S x D). Raises ConfigError for one without operators."""
    match encoder:
        case RecurrentEncoder():
            return _recurrent(graph, encoder, x)
        case GridEncoder():
            return _grid(graph, encoder, x)
        case CnnEncoder():
            return _convolved(graph, encoder, x)
        case NoEncoder():
            return Annotated(x, [{"h": graph.row(x, -1)}])
    config: Any = encoder.config
    raise unsupported(f'encoder.kind = "{config.kind}"')


def _recurrent(graph: Graph, encoder: RecurrentEncoder, x: str) -> Annotated:
    config = encoder.config
    kept = {"both": slice(0, 2), "backward": slice(0, 1), "forward": slice(1, 2)}[config.sentence_encoding_from]
    x, summaries = _words_turned(graph, x) if config.reversed else x, list[dict[str, str]]()
    for layer in range(config.layers):
        outputs, states = [], list[dict[str, str]]()
        for way in encoder.directions:
            stack, prefix = encoder.stack(layer, way), f"encoder.layers.{layer}.{way}."
            learned = stack.initial.tensors()
            first = {
                name: graph.weight(f"{prefix}initial.{name}", learned[name])
                if name in learned
                else graph.constant([0.0] * config.size)
                for name in stack.program.carried
            }
            parts = Parts(graph, f"{prefix}weights.", stack.weights.tensors(), {})
            given = x if way == "left_to_right" else _turned(graph, x)
            found = parts.whole(stack.program, {"x": given}, first)
            h = found[stack.program.returns[0]]
            outputs.append(h if way == "left_to_right" else _turned(graph, h))
            states.append({name.removeprefix("layer0."): found[f"last {name}"] for name in stack.program.carried})
        both = graph.join(outputs)
        x = graph.add([both, x]) if config.residual and layer else both
        last = states[kept]
        summaries.append({field: graph.join([state[field] for state in last]) for field in config.cell.state})
    return Annotated(_words_turned(graph, x) if config.reversed else x, summaries)


def _turned(graph: Graph, x: str) -> str:
    return graph.slice(x, -1, -_END, -1)


def _words_turned(graph: Graph, x: str) -> str:
    """Return all positions but the last, which is ``</s>``, in reverse."""
    return graph.join([_turned(graph, graph.slice(x, 0, -1)), graph.slice(x, -1, _END)], axis=0)


def _convolved(graph: Graph, encoder: CnnEncoder, x: str) -> Annotated:
    weights, found = encoder.weights.tensors(), list[str]()
    columns = graph.node("Unsqueeze", graph.node("Transpose", x, perm=[1, 0]), graph.constant([0]))
    for width in encoder.config.widths:
        part, left = f"width{width}", (width - 1) // 2
        matrix = weights[f"{part}.weight"]
        filters = matrix.view(len(matrix), width, -1).transpose(1, 2)
        names = (
            graph.weight(f"encoder.weights.{part}.filters", filters),
            graph.weight(f"encoder.weights.{part}.bias", weights[f"{part}.bias"]),
        )
        found.append(graph.node("Conv", columns, *names, pads=[left, width - 1 - left]))
    rows = graph.node("Squeeze", graph.node("Relu", graph.join(found, axis=1)), graph.constant([0]))
    annotations = graph.node("Transpose", rows, perm=[1, 0])
    return Annotated(annotations, [{"h": graph.row(annotations, -1)}])


def _grid(graph: Graph, encoder: GridEncoder, x: str) -> Annotated:
    config = encoder.config
    parts = Parts(graph, "encoder.weights.", encoder.weights.tensors(), {})
    if config.layer != "none":
        x = parts.project("grid", x, bias=True)
    if config.layer in ("tanh", "relu"):
        x = graph.node("Tanh" if config.layer == "tanh" else "Relu", x)
    if config.positions:
        x = graph.add([x, parts.vector("positions.weight")])
    return Annotated(x, [{"h": graph.mean(x)}])
