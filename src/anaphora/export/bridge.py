"""Initial state and memory of a decoder, of one sequence."""

from typing import NamedTuple

from anaphora.export.encoder import Annotated
from anaphora.export.graph import Graph
from anaphora.export.parts import Parts
from anaphora.kernels.parts import is_previous, signal_of
from anaphora.kernels.scores import Concat, Dot, General, Hybrid
from anaphora.nn.attention import AnyAttention, WindowAttention
from anaphora.nn.decoder import Decoder


class Signal(NamedTuple):
    """A signal that a graph gives out."""

    name: str
    shape: tuple[str | int | None, ...]


class Start:
    """The memory and the initial state of a decoder on their way into a graph."""

    def __init__(self, graph: Graph, decoder: Decoder, attention: AnyAttention, width: int) -> None:
        """``attention`` are its options, ``width`` that of an annotation."""
        self._graph, self._decoder, self._attention, self._width = graph, decoder, attention, width
        self._bridge = Parts(graph, "decoder.weights.", decoder.weights.tensors(), {})

    def given_out(self, encoded: Annotated) -> dict[str, Signal]:
        """Return the memory, after it and ``state NAME`` were made outputs of the graph."""
        memory, first = self._of(encoded)
        for name, signal in (memory | {f"state {name}": signal for name, signal in first.items()}).items():
            self._graph.output(name, signal.name, signal.shape)
        return memory

    def _of(self, encoded: Annotated) -> tuple[dict[str, Signal], dict[str, Signal]]:
        """Return the memory of the decoder, and its initial state for one row."""
        annotations, summaries = encoded
        if self._decoder.config.sentence_encoding_layer == "tanh":
            projected = self._projected("summary", summaries[-1]["h"])
            summaries = [{"h": self._graph.node("Tanh", projected)}]
        first = self._first(annotations, summaries)
        if self._decoder.attention is None:
            return self._of_every_step(summaries[-1]["h"]), first
        return self._attended(annotations), first | self._carried(annotations)

    def _projected(self, name: str, whole: str) -> str:
        return self._bridge.project(name, whole, self._decoder.config.bias)

    def _first(self, annotations: str, summaries: list[dict[str, str]]) -> dict[str, Signal]:
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
                        value = self._projected(f"start{layer}_{field}", whole)
                        if config.initial_state_activation == "tanh":
                            value = graph.node("Tanh", value)
                state[f"layer{layer}.{field}"] = self._row(value, config.size)
        if config.input_feeding:
            width = self._decoder.weights.tensors()["feed.weight"].shape[1]
            fed = "context" if config.input_feeding_from == "context" else "o"
            state[fed] = self._row(graph.constant([0.0] * width), width)
        return state

    def _row(self, vector: str, width: int | str) -> Signal:
        return Signal(self._graph.node("Unsqueeze", vector, self._graph.constant([0])), (1, width))

    def _of_every_step(self, summary: str) -> dict[str, Signal]:
        """Return the summary on its way into every step, where it enters there."""
        weights, memory = self._decoder.weights.tensors(), dict[str, Signal]()
        bottom = "layer0.condition" if self._decoder.bridge.beside_state else "context.vector"
        for part, name in (("context", bottom), ("combine_context", "combine_context.vector")):
            if f"{part}.weight" in weights:
                projected = self._bridge.project(part, summary, f"{part}.bias" in weights)
                memory[name] = Signal(projected, (len(weights[f"{part}.weight"]),))
        return memory

    def _attended(self, annotations: str) -> dict[str, Signal]:
        """Return the memory of attention: values, and the keys of the score."""
        memory = {"attention.values": Signal(annotations, ("S", self._width))}
        match getattr(self._attention, "score", None):
            case Dot():
                memory["attention.keys"] = memory["attention.values"]
            case General() | Concat() | Hybrid() if "attention.memory" in self._bridge.weights:
                keys = self._bridge.matmul("attention.memory", annotations)
                memory["attention.keys"] = Signal(keys, ("S", len(self._bridge.weights["attention.memory"])))
        return memory

    def _carried(self, annotations: str) -> dict[str, Signal]:
        """Return the state of attention before the first step: weights of 1 at the first position, coverage, step 0."""
        graph, program = self._graph, self._decoder.program
        carried = {signal_of(read) for part in program.parts for read in part.reads if is_previous(read)}
        found = dict[str, Signal]()
        positions = graph.node("Shape", annotations, start=0, end=1)
        shape = graph.node("Concat", graph.constant([1]), positions, axis=0)
        zeros = graph.node("Expand", graph.constant(0.0), shape)
        if "weights" in carried:
            first = graph.node("Pad", graph.constant([[1.0]]), self._beyond_first(positions))
            found["weights"] = Signal(first, (1, "S"))
        if "coverage" in carried:
            found["coverage"] = Signal(zeros, (1, "S"))
        if isinstance(self._attention, WindowAttention):
            found["kappa"] = self._row(graph.constant([0.0] * self._attention.components), self._attention.components)
        if "clock" in carried:
            found["clock"] = self._row(graph.constant([0.0]), 1)
        return found

    def _beyond_first(self, positions: str) -> str:
        """Return the padding of a 1 x 1 matrix to 1 x S."""
        graph = self._graph
        rest = graph.node("Sub", positions, graph.constant([1]))
        return graph.node("Concat", graph.constant([0, 0, 0]), rest, axis=0)
