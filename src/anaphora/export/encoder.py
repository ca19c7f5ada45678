"""Encoders as graphs: their inputs and annotations, and the memory and initial state of a decoder, of one sequence."""

from typing import Any, NamedTuple

import torch

from anaphora.export.graph import END, Graph, refuse_graph
from anaphora.export.parts import Parts
from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.scores import Concat, Dot, General, Hybrid
from anaphora.nn.attention import AnyAttention, WindowAttention
from anaphora.nn.decoder import Decoder
from anaphora.nn.embedding import Embedding
from anaphora.nn.encoders.cnn import CnnEncoder
from anaphora.nn.encoders.encoder import Encoder
from anaphora.nn.encoders.grid import GridEncoder
from anaphora.nn.encoders.none import NoEncoder
from anaphora.nn.encoders.recurrent import RecurrentEncoder
from anaphora.nn.spelling import CharacterEncoder
from anaphora.nn.vectors import VectorsConfig

_WORDS = 1024
"""Words whose vectors are computed from their characters at once."""


def embed(graph: Graph, name: str, embedding: Any, ids: str) -> str:
    """Return the vectors of ids; those that are composed from characters become a table."""
    if not isinstance(embedding, Embedding):
        with torch.no_grad():
            rows = torch.split(torch.arange(len(embedding.lengths_V)), _WORDS)
            table = torch.cat([embedding.vectors(ids_N) for ids_N in rows])
        return graph.node("Gather", graph.weight(f"{name}.table", table), ids)
    found: str = graph.node("Gather", graph.weight(f"{name}.weight", embedding.weight), ids)
    return found if embedding.scale == 1 else graph.multiply(found, graph.constant(embedding.scale))


def scale_values(graph: Graph, config: VectorsConfig, pen: int = 0) -> str:
    """Return the input ``values`` by its means and deviations in training.

    ``pen`` flags behind them stay as they are.
    """
    values = graph.input("values", ["S", len(config.mean) + pen])
    centred = graph.node("Sub", values, graph.constant([*config.mean, *[0.0] * pen]))
    return graph.node("Div", centred, graph.constant([*config.deviation, *[1.0] * pen]))


def spelt(graph: Graph, encoder: CharacterEncoder) -> str:
    """The input ``characters`` (S x L, -1 behind the end of a word) as vectors of words: see ``kernels.spelling``."""
    parts = Parts(graph, "characters.weights.", encoder.weights.tensors())
    ids = graph.input("characters", ["S", "L"], "INT64")
    inside = graph.unsqueeze(graph.node("GreaterOrEqual", ids, graph.constant(0)), -1)
    table = graph.weight("characters.weights.characters.weight", parts.weights["characters.weight"])
    found = graph.node("Gather", table, graph.node("Max", ids, graph.constant(0)))
    x = graph.multiply(found, graph.node("Cast", inside, to=1))
    beyond = encoder.config.max_kernel - 1
    longer = graph.node("Pad", x, graph.constant([0, 0, 0, 0, beyond, 0]))
    moved = [graph.slice(longer, k, k - beyond if k < beyond else END, axis=1) for k in range(beyond + 1)]
    tops = list[str]()
    for width in range(1, beyond + 2):
        sums = parts.project(f"width{width}", graph.join(moved[:width]), bias=True)  # 1
        sums = graph.node("Where", inside, sums, graph.constant(float("-inf")))
        top = graph.node("ReduceMax", sums, graph.constant([1]), keepdims=0)
        tops.append(graph.node("Tanh", top))  # 2
    y = graph.join(tops)
    for layer in range(encoder.config.highways):
        t = graph.node("Sigmoid", parts.project(f"transform{layer}", y, bias=True))  # 3
        g = graph.node("Relu", parts.project(f"hidden{layer}", y, bias=True))
        y = graph.add([y, graph.multiply(t, graph.node("Sub", g, y))])  # 4
    return y


class EncodedNodes(NamedTuple):
    """Annotations and sentence encodings of a sequence."""

    annotations: str
    """S x M."""
    summaries: list[dict[str, str]]
    """The sequence as a whole, a vector by field: one for each layer, from the bottom up."""


def encode(graph: Graph, encoder: Encoder, x: str) -> EncodedNodes:
    """Return an encoder over vectors (S x D). Raises ConfigError for one without operators."""
    match encoder:
        case RecurrentEncoder():
            return _recurrent(graph, encoder, x)
        case GridEncoder():
            return _grid(graph, encoder, x)
        case CnnEncoder():
            return _convolve(graph, encoder, x)
        case NoEncoder():
            return EncodedNodes(x, [{"h": graph.row(x, -1)}])
    config: Any = encoder.config
    raise refuse_graph(f'encoder.kind = "{config.kind}"')


def _recurrent(graph: Graph, encoder: RecurrentEncoder, x: str) -> EncodedNodes:
    config = encoder.config
    kept = {"both": slice(0, 2), "backward": slice(0, 1), "forward": slice(1, 2)}[config.sentence_encoding_from]
    x, summaries = _reverse_words(graph, x) if config.reversed else x, list[dict[str, str]]()
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
            parts = Parts(graph, f"{prefix}weights.", stack.weights.tensors())
            given = x if way == "left_to_right" else _reverse(graph, x)
            found = parts.whole(stack.program, {"x": given}, first)
            h = found[stack.program.returns[0]]
            outputs.append(h if way == "left_to_right" else _reverse(graph, h))
            states.append({name.removeprefix("layer0."): found[f"last {name}"] for name in stack.program.carried})
        both = graph.join(outputs)
        x = graph.add([both, x]) if config.residual and layer else both
        last = states[kept]
        summaries.append({field: graph.join([state[field] for state in last]) for field in config.cell.state})
    return EncodedNodes(_reverse_words(graph, x) if config.reversed else x, summaries)


def _reverse(graph: Graph, x: str) -> str:
    return graph.slice(x, -1, -END, -1)


def _reverse_words(graph: Graph, x: str) -> str:
    """Return all positions but the last, which is ``</s>``, in reverse."""
    return graph.join([_reverse(graph, graph.slice(x, 0, -1)), graph.slice(x, -1, END)], axis=0)


def _convolve(graph: Graph, encoder: CnnEncoder, x: str) -> EncodedNodes:
    weights, found = encoder.weights.tensors(), list[str]()
    columns = graph.unsqueeze(graph.node("Transpose", x, perm=[1, 0]), 0)
    for width in encoder.config.widths:
        part, left = f"width{width}", (width - 1) // 2
        matrix = weights[f"{part}.weight"]
        filters = matrix.view(len(matrix), width, -1).transpose(1, 2)
        tensors = {"filters": filters, "bias": weights[f"{part}.bias"]}
        names = [graph.weight(f"encoder.weights.{part}.{name}", tensor) for name, tensor in tensors.items()]
        found.append(graph.node("Conv", columns, *names, pads=[left, width - 1 - left]))
    rows = graph.node("Squeeze", graph.node("Relu", graph.join(found, axis=1)), graph.constant([0]))
    annotations = graph.node("Transpose", rows, perm=[1, 0])
    return EncodedNodes(annotations, [{"h": graph.row(annotations, -1)}])


def _grid(graph: Graph, encoder: GridEncoder, x: str) -> EncodedNodes:
    config = encoder.config
    parts = Parts(graph, "encoder.weights.", encoder.weights.tensors())
    if config.layer != "none":
        x = parts.project("grid", x, bias=True)
    if config.layer in ("tanh", "relu"):
        x = graph.node("Tanh" if config.layer == "tanh" else "Relu", x)
    if config.positions:
        x = graph.add([x, parts.vector("positions.weight")])
    return EncodedNodes(x, [{"h": graph.mean(x)}])


class Signal(NamedTuple):
    """A signal that a graph gives out."""

    name: str
    shape: tuple[str | int | None, ...]


class Start:
    """The memory and the initial state of a decoder on their way into a graph."""

    def __init__(self, graph: Graph, decoder: Decoder, attention: AnyAttention, width: int) -> None:
        """``attention`` are its options, ``width`` that of an annotation."""
        self._graph, self._decoder, self._attention, self._width = graph, decoder, attention, width
        self._bridge = Parts(graph, "decoder.weights.", decoder.weights.tensors())

    def export_memory(self, encoded: EncodedNodes) -> dict[str, Signal]:
        """Return the memory, after it and ``state NAME`` were made outputs of the graph."""
        annotations, summaries = encoded
        if self._decoder.config.sentence_encoding_layer == "tanh":
            projected = self._project("summary", summaries[-1]["h"])
            summaries = [{"h": self._graph.node("Tanh", projected)}]
        first = self._initial_state(annotations, summaries)
        if self._decoder.attention is None:
            memory = self._of_every_step(summaries[-1]["h"])
        else:
            memory, first = self._attention_memory(annotations), first | self._attention_state(annotations)
        for name, signal in (memory | {f"state {name}": signal for name, signal in first.items()}).items():
            self._graph.output(name, signal.name, signal.shape)
        return memory

    def _project(self, name: str, whole: str) -> str:
        return self._bridge.project(name, whole, self._decoder.config.bias)

    def _initial_state(self, annotations: str, summaries: list[dict[str, str]]) -> dict[str, Signal]:
        """Return the initial state of all layers, and what input feeding feeds at first (see ``nn/bridge.py``)."""
        graph, config = self._graph, self._decoder.config
        if config.initial_state == "mean":
            summaries = [{"h": graph.mean(annotations)}]
        above, state = max(0, len(summaries) - config.layers), dict[str, Signal]()
        for layer in range(config.layers):
            summary = summaries[min(above + layer, len(summaries) - 1)]
            for field in config.cell.state:
                whole = summary.get(field, summary["h"])
                match config.initial_state:
                    case "zero":
                        value = graph.constant([0.0] * config.size)
                    case "copy":
                        value = whole
                    case _:
                        value = self._project(f"start{layer}_{field}", whole)
                        if config.initial_state_activation == "tanh":
                            value = graph.node("Tanh", value)
                state[f"layer{layer}.{field}"] = self._row(value, config.size)
        if config.input_feeding:
            width = self._decoder.weights.tensors()["feed.weight"].shape[1]
            fed = "context" if config.input_feeding_from == "context" else "o"
            state[fed] = self._row(graph.constant([0.0] * width), width)
        return state

    def _row(self, vector: str, width: int | str) -> Signal:
        return Signal(self._graph.unsqueeze(vector, 0), (1, width))

    def _of_every_step(self, summary: str) -> dict[str, Signal]:
        """Return the summary on its way into every step, where it enters there."""
        weights, memory = self._decoder.weights.tensors(), dict[str, Signal]()
        bottom = "layer0.condition" if self._decoder.bridge.beside_state else "context.vector"
        for part, name in (("context", bottom), ("combine_context", "combine_context.vector")):
            if f"{part}.weight" in weights:
                projected = self._bridge.project(part, summary, f"{part}.bias" in weights)
                memory[name] = Signal(projected, (len(weights[f"{part}.weight"]),))
        return memory

    def _attention_memory(self, annotations: str) -> dict[str, Signal]:
        """Return the memory of attention: values, and the keys of the score."""
        memory = {"attention.values": Signal(annotations, ("S", self._width))}
        match getattr(self._attention, "score", None):
            case Dot():
                memory["attention.keys"] = memory["attention.values"]
            case General() | Concat() | Hybrid() if "attention.memory" in self._bridge.weights:
                keys = self._bridge.matmul("attention.memory", annotations)
                memory["attention.keys"] = Signal(keys, ("S", len(self._bridge.weights["attention.memory"])))
        return memory

    def _attention_state(self, annotations: str) -> dict[str, Signal]:
        """Return the state of attention before the first step: weights of 1 at the first position, coverage, step 0."""
        graph, program = self._graph, self._decoder.program
        carried = {signal_of(read) for part in program.parts for read in part.reads if is_previous(read)}
        found = dict[str, Signal]()
        positions = graph.length(annotations)
        shape = graph.node("Concat", graph.constant([1]), positions, axis=0)
        zeros = graph.node("Expand", graph.constant(0.0), shape)
        if "weights" in carried:
            one, rest = graph.constant([[1.0]]), graph.node("Sub", positions, graph.constant([1]))
            beyond = graph.node("Concat", graph.constant([0, 0, 0]), rest, axis=0)
            found["weights"] = Signal(graph.node("Pad", one, beyond), (1, "S"))
        if "coverage" in carried:
            found["coverage"] = Signal(zeros, (1, "S"))
        if isinstance(self._attention, WindowAttention):
            found["kappa"] = self._row(graph.constant([0.0] * self._attention.components), self._attention.components)
        if "clock" in carried:
            found["clock"] = self._row(graph.constant([0.0]), 1)
        return found
