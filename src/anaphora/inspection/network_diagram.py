"""Networks unrolled over a sentence, as papers draw them: boxes, arrows, and the matrix of each arrow.

Programs (``programs.py``) have a part for each operation. Here units, attention and the readout are boxes; projections
between them become the matrices of arrows. Embeddings, outputs and losses are added around them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.inspection.labels import BACKWARD, FORWARD, layer_name
from anaphora.inspection.network_parts import Lane, Matrices, attends, gates, high, is_unit, low, note, ways
from anaphora.inspection.result import Result
from anaphora.protocols import PartDescription, ProgramModel
from anaphora.tasks.base import ExperimentBase

SOURCE, TARGET = ("I", "am", "here"), ("Je", "suis", "là")
START, END = "<s>", "</s>"


@dataclass(frozen=True)
class Box:
    """Value at one step."""

    label: str
    """Its symbol: "h₁", "p₁", or a word."""
    kind: str
    """"word", "embedding", "unit", "sentence", "attention", "readout", "output", "loss" or "sum"."""
    column: float
    """Step, from 0."""
    row: int
    """From 0 at the bottom."""
    note: str = ""
    """Unit or function."""


@dataclass(frozen=True)
class Edge:
    """Arrow from one box to another."""

    start: int
    end: int
    kind: str
    """"flow", "carried" to the next step, "state" into the first step, or "attention", or "context" into every step."""
    matrices: tuple[str, ...] = ()
    """Symbols of the matrices on the way; none where the value itself is passed."""
    label: str = ""
    """Factor on the way: an attention weight, or that of a mean."""


@dataclass(frozen=True)
class NetworkDiagram(Result):
    """Network over a sentence."""

    name: str
    finding: str
    """Summary in one sentence."""
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    matrices: Mapping[str, str]
    """Places and shapes of matrices by symbol; a shared matrix has one symbol and two places."""
    cuts: tuple[tuple[float, str], ...] = ()
    """Columns at which truncation stops a gradient, and which one."""

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.finding}", *(f"  {symbol}: {one}" for symbol, one in self.matrices.items())]
        for edge in self.edges:
            start, end = self.boxes[edge.start].label, self.boxes[edge.end].label
            lines.append(f"  {start} -> {end}" + (f" ({', '.join(edge.matrices)})" if edge.matrices else ""))
        return "\n".join(lines)


def network_diagram(name: str, experiment: ExperimentBase, model: ProgramModel, cut_every: int = 0) -> NetworkDiagram:
    """Return the network of an experiment over a sentence; chunks of ``cut_every`` steps, or windows, cut gradients."""
    return _Builder(experiment, model).build(name, cut_every)


class _Builder:
    def __init__(self, experiment: ExperimentBase, model: ProgramModel) -> None:
        self._experiment: Any = experiment
        self._model: Any = model
        self._boxes, self._edges = list[Box](), list[Edge]()
        self._row, self._column = 0, 0
        decoder = getattr(model, "decoder", None)
        self._of_decoder: Mapping[str, Any] = decoder.weights.tensors() if decoder else {}
        """Weights of the decoder; parts do not name those that a sentence is multiplied by once."""
        self._matrices = Matrices(self._of_decoder)

    def build(self, name: str, cut_every: int) -> NetworkDiagram:
        programs = self._model.programs()
        encoders = {one: parts for one, parts in programs.items() if one.startswith("encoder")}
        if not encoders:
            found = self._predict(programs["recurrence"])
        elif "decoder" in programs:
            annotated = any(map(attends, programs["decoder"])) or self._experiment.decoder.initial_state == "mean"
            found = self._decode(*self._encode((*SOURCE, END), encoders, annotated), programs)
        else:
            pooling = getattr(getattr(self._experiment, "classes", None), "pooling", "")
            found = self._answer(*self._encode(SOURCE, encoders, pooling != "last"))
        boxes, edges = tuple(self._boxes), tuple(self._edges)
        cuts = self._cuts(cut_every) if cut_every else ()
        return NetworkDiagram(name, found, boxes, edges, self._matrices.listed(), cuts)

    def _cuts(self, every: int) -> tuple[tuple[float, str], ...]:
        steps = 1 + int(max(box.column for box in self._boxes if box.kind == "unit"))
        truncation = getattr(getattr(self._experiment, "recurrence", None), "truncation", None)
        if getattr(truncation, "kind", "chunk") == "window":
            last = f"L{low(steps)}"
            return ((steps - every - 1.5, f"the gradient of {last} stops here"),) if every < steps - 1 else ()
        return tuple((cut - 0.5, "the gradient stops here") for cut in range(every, steps, every))

    def _box(self, label: str, kind: str, column: float, row: int, note: str = "") -> int:
        self._boxes.append(Box(label, kind, self._column + column, row, note))
        return len(self._boxes) - 1

    def _link(self, start: int, end: int, kind: str = "flow", *matrices: str, label: str = "") -> None:
        state = kind == "state"
        if not any((one.start, one.end, one.kind == "state") == (start, end, state) for one in self._edges):
            self._edges.append(Edge(start, end, kind, matrices, label))

    def _inputs(self, words: Sequence[str], side: str, embedding: Any, letter: str = "x", note: str = "") -> list[int]:
        """Draw words and their vectors; of a network of vectors, these alone."""
        vectors, symbol, weight = list[int](), "", getattr(embedding, "weight", None)
        if embedding is not None:
            note = "characters" if weight is None else "and characters" if hasattr(self._model, "characters") else ""
            place, shapes = f"{side} embedding", () if weight is None else [weight.shape]
            symbol = self._matrices.add("E_l" if letter == "z" else "E", place, shapes, weight)
        for column, word in enumerate(words):
            above = self._row + (embedding is not None)
            vectors.append(self._box(f"{letter}{low(column + 1)}", "embedding", column, above, note))
            if embedding is not None:
                self._link(self._box(word, "word", column, self._row), vectors[-1], "flow", symbol)
        self._row += 1 + (embedding is not None)
        return vectors

    def _predict(self, parts: Sequence[PartDescription]) -> str:
        """Draw a language model, or a network that predicts vectors."""
        embedding = getattr(self._model, "embedding", None)
        tokenizer = getattr(getattr(self._experiment, "text", None), "tokenizer", "")
        words: Sequence[str] = "cat" if tokenizer == "character" else SOURCE
        begin = END if getattr(self._model.config, "reads", "") == "stream" else START
        below = self._inputs([begin, *words], "word", embedding)
        states = self._unroll(Lane("recurrence", parts, {"x": below}, range(len(below)), "h"))
        self._outputs(states, [*words, END] if embedding else [f"x{low(n + 2)}" for n in range(len(below))])
        return "each step predicts what it reads next, from what it has read before"

    def _encode(
        self, words: Sequence[str], programs: Mapping[str, Sequence[PartDescription]], annotated: bool
    ) -> tuple[list[int], list[list[int]]]:
        """Draw an encoder; return its annotations, and for each layer the states that encode the sentence.

        Directions of the last layer are concatenated only where its annotations are read.
        """
        config, model, last = self._experiment.encoder, self._model, list[list[int]]()
        if getattr(config, "reversed", False):
            words = (*reversed(words[:-1]), words[-1])
        own = None if hasattr(model, "written") else getattr(model, "embedding", None)
        embedding = getattr(model, "source_embedding", own)
        steps = any(programs.values())
        below = self._inputs(words, "source", embedding, *(("a", "region") if annotated and not steps else ()))
        if annotated and not steps:
            return below, [below]
        if not steps:
            note = config.kind.replace("-convolution", " conv.")
            whole = self._box("c", "sentence", (len(words) - 1) / 2, self._row, note)
            for one in below:
                self._link(one, whole)
            self._row += 1
            return [whole], [[whole]]
        both, deep = len(programs) > config.layers, config.layers > 1
        for layer in range(config.layers):
            number, states = high(layer + 1) if deep else "", dict[bool, list[int]]()
            for name, parts in programs.items():
                if name.startswith(f"encoder layer {layer},"):
                    back = name.endswith("right to left")
                    order = range(len(words))[::-1] if back else range(len(words))
                    arrow = (BACKWARD if back else FORWARD) if both else ""
                    states[back] = self._unroll(Lane(name, parts, {"x": below}, order, "h", arrow + number))
            used = {"both": (True, False), "backward": (True,)}.get(config.sentence_encoding_from, (False,))
            last.append([one[0 if back else -1] for back, one in states.items() if back in used or not both])
            below = list(states.values())[-1]
            if both and (annotated or layer < config.layers - 1):
                below = [
                    self._box(f"h{number}{low(n + 1)}", "sentence", n, self._row, "[\u2190; \u2192]")
                    for n in range(len(words))
                ]
                for one_way in states.values():
                    for start, end in zip(one_way, below, strict=True):
                        self._link(start, end)
                self._row += 1
        return below, last

    def _decode(
        self, annotations: list[int], last: list[list[int]], programs: Mapping[str, Sequence[PartDescription]]
    ) -> str:
        """Draw a decoder from <s>, one word behind what it writes."""
        config, parts, words = self._experiment.decoder, programs["decoder"], (START, *TARGET)
        attention = [part for part in parts if attends(part)]
        columns = any(part.kind.startswith("Column") for part in parts)
        memory, bottom = annotations, 0
        if not any(part.memory for part in parts):  # beside the encoder, as Sutskever et al. (2014) draw it
            self._row, self._column = 0, len(annotations)
        else:
            self._row += 1
            bottom = self._row
            if columns:
                memory = [self._box(f"c{low(n + 1)}", "sentence", n, bottom, "column") for n in range(len(words))]
                for one in memory:
                    self._link(annotations[0], one)
            elif not attention and len(annotations) > 1:
                tanh = "summary.weight" in self._of_decoder
                memory = [self._box("c", "sentence", (len(annotations) - 1) / 2, bottom, "tanh" if tanh else "")]
                for one in last[-1]:
                    self._link(one, memory[0], "flow", *self._matrices.of_sentence("summary"))
                last = [memory] if tanh else last
            self._row += attention != [] or memory is not annotations
        above, first = max(0, len(last) - config.layers), dict[str, tuple[Sequence[int], tuple[str, ...]]]()
        for n in range(config.layers if config.initial_state != "zero" else 0):
            encoding = annotations if config.initial_state == "mean" else last[min(above + n, len(last) - 1)]
            number = high(n + 1) if config.layers > 1 else ""
            place = f"initial state of {layer_name(f'decoder layer{n}')}"
            shapes = [one.shape for name, one in self._of_decoder.items() if re.fullmatch(rf"start{n}_..weight", name)]
            first[f"layer{n}"] = encoding, (self._matrices.add(f"W{number}_s", place, shapes),) if shapes else ()
        inputs = {"x": self._inputs(words, "target", getattr(self._model, "written", None), "y")}
        if "language model" in programs:
            language = self._inputs(words, "language model", self._model.language_model.embedding, "z")
            lane = Lane("language model", programs["language model"], {"x": language}, range(len(words)), "l")
            inputs["language"] = self._unroll(lane)
        lane = Lane("decoder", parts, inputs, range(len(words)), "s", "", memory, first, bottom)
        ends = [*TARGET, END] if hasattr(self._model, "written") else [f"y{low(n + 2)}" for n in range(len(words))]
        self._outputs(self._unroll(lane), ends)
        config = self._experiment.encoder
        order = "in both directions" if getattr(config, "bidirectional", False) else "from left to right"
        order = "backwards" if getattr(config, "reversed", False) else order
        order = order if getattr(config, "layers", 0) else "as a whole"
        if attention:
            asks = "before" if any(one.previous for one in attention[0].reads) else "of the step"
            return f"the source is read {order}, and each output looks at all of it, asked by the state {asks}"
        carries = "a vector of it for each output enters the decoder" if columns else ""
        return f"the source is read {order}, and {carries or 'one vector carries all of it to the decoder'}"

    def _answer(self, annotations: list[int], last: list[list[int]]) -> str:
        """Draw tags, or the pooling and the class of a classifier."""
        if not hasattr(self._experiment, "classes"):
            self._outputs(annotations, [f"tag{low(n + 1)}" for n in range(len(annotations))])
            return "each word is tagged from what stands on both sides of it"
        pooling, weights = self._experiment.classes.pooling, self._model.weights.tensors()
        middle, kind, symbols = (len(annotations) - 1) / 2, "flow", tuple[str, ...]()
        if pooling == "attention":
            shapes = [weights[name].shape for name in ("pool.weight", "pool.query")]
            kind, symbols = "attention", (self._matrices.add("W_a", "attention of the pooling", shapes),)
        pooled = self._box("v", "sentence", middle, self._row, pooling)
        for number, one in enumerate(last[-1] if pooling == "last" else annotations, 1):
            labels = {"mean": f"1/{len(annotations)}", "attention": f"\u03b1{low(number)}", "max": "max"}
            self._link(one, pooled, kind, *symbols, label=labels.get(pooling, ""))
        self._row += 1
        weight = weights["output.weight"]
        self._output(pooled, "class", middle, "", self._matrices.add("V", "output layer", [weight.shape], weight))
        return f"{pooling} pooling makes one vector of the sentence, and from it comes the class"

    def _outputs(self, states: Sequence[int], words: Sequence[str]) -> None:
        """Draw the probabilities, the words, the losses and their sum."""
        output = self._model.output
        weight = getattr(output, "weight", None)
        several = [one.shape for one in output.parameters() if one.ndim == 2]
        symbol = self._matrices.add("V", "output layer", several if weight is None else [weight.shape], weight)
        numbered = enumerate(zip(states, words, strict=True))
        losses = [self._output(state, word, column, low(column + 1), symbol) for column, (state, word) in numbered]
        total = self._box("L", "loss", (len(losses) - 1) / 2, self._row + 3, "sum")
        for one in losses:
            self._link(one, total)

    def _output(self, state: int, word: str, column: float, number: str, symbol: str) -> int:
        of_classes = getattr(getattr(self._experiment, "classes", None), "output", "full")
        kind = getattr(getattr(self._experiment, "output", None), "kind", of_classes)
        p = self._box(f"p{number}", "output", column, self._row, "softmax" if kind == "full" else kind)
        said, loss = (
            self._box(word, "word", column, self._row + 1),
            self._box(f"L{number}", "loss", column, self._row + 2, "\u2212ln p"),
        )
        self._link(state, p, "flow", symbol)
        self._link(p, said)
        self._link(said, loss)
        return loss

    def _unroll(self, lane: Lane) -> list[int]:
        """Draw the boxes of a program at every step; return the last of each step, by column."""
        nodes, depths = lane.nodes, dict[str, int]()
        read = {node.name: ways(node, lane, self._matrices) for node in nodes}
        for node in nodes:
            below = [depths[name] + 1 for name, previous, _ in read[node.name] if name in depths and not previous]
            depths[node.name] = max(below, default=0)
        upper = sorted((node.name for node in nodes if not attends(node)), key=lambda name: depths[name])
        rows = {name: self._row + row for row, name in enumerate(upper)}
        placed: dict[tuple[str, int], int] = {}
        for step, column in enumerate(lane.order):
            for node in nodes:
                letter, kind = ("g" if gates(node) else "o"), "readout"
                if attends(node):
                    letter, kind = "c", "attention"
                elif is_unit(node):
                    letter, kind = f"{lane.letter}{lane.mark}{lane.layer(lane.units.index(node.name))}", "unit"
                row = rows.get(node.name, lane.attention_row)
                placed[node.name, step] = self._box(f"{letter}{low(column + 1)}", kind, column, row, note(node))
            for node in nodes:
                end = placed[node.name, step]
                for name, previous, matrices in read[node.name]:
                    how = "carried" if previous else "flow"
                    starts: Sequence[int | None] = [placed.get((name, step - previous))]
                    if name in lane.inputs:
                        starts = [lane.inputs[name][column]]
                    elif name == "memory" and attends(node):
                        starts, how = [*lane.memory], "attention"
                    elif name == "memory":
                        several = len(lane.memory) > 1
                        starts, how = [lane.memory[column if several else 0]], "flow" if several else "context"
                    elif previous and not step:
                        starts, matrices = lane.first.get(name, ([], ())) if is_unit(node) else ([], ())
                        how = "state"
                    for number, start in enumerate(starts, 1):
                        label = f"\u03b1{low(column + 1)}{low(number)}" if how == "attention" and column == 1 else ""
                        if start is not None:
                            self._link(start, end, how, *matrices, label=label)
        self._row += len(upper)
        steps = {column: step for step, column in enumerate(lane.order)}
        return [placed[nodes[-1].name, steps[column]] for column in range(len(lane.order))]
