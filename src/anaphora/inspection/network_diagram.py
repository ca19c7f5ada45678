"""Networks unrolled over a sentence, as papers draw them: boxes, arrows, and the matrix of each arrow.

Programs (``programs.py``) have a part for each operation. Here units, attention and the readout are boxes; projections
between them become the matrices of arrows. Embeddings, outputs and losses are added around them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from anaphora.inspection.result import Result
from anaphora.protocols import PartDescription, ProgramModel, SignalRead
from anaphora.tasks.base import ExperimentBase

SOURCE, TARGET = ("I", "am", "here"), ("Je", "suis", "là")
START, END = "<s>", "</s>"
_SYMBOLS = {"input": "W", "layer": "U", "ask": "U", "feed": "W_o", "context": "C", "attention": "W_a", "window": "W_a"}
_SYMBOLS |= {"combine_context": "C_o", "combine_state": "U_o", "combine_word": "V_o", "context_gate": "W_g"}
"""Symbols of the matrices of parts: Bahdanau et al. (2015), appendix A."""
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


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
    """"flow", "carried" to the next step, "state" into the first step, or "attention"."""
    matrices: tuple[str, ...] = ()
    """Symbols of the matrices on the way; none where the value itself is passed."""


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


@dataclass(frozen=True)
class _Lane:
    """Steps of one program: its input by column, and the columns in the order in which it runs."""

    name: str
    parts: Sequence[PartDescription]
    below: Sequence[int]
    order: Sequence[int]
    letter: str
    """Symbol of states."""
    mark: str = ""
    """Layer and direction of an encoder."""
    memory: Sequence[int] = ()
    """Boxes that attention looks at, or the sentence encoding that every step reads."""
    first: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Boxes of the initial state, by unit."""
    start: tuple[str, ...] = ()
    """Matrices of the initial state."""

    @cached_property
    def nodes(self) -> list[PartDescription]:
        """The parts that are boxes."""
        return [part for part in self.parts if _is_unit(part) or _attends(part) or part is self.parts[-1]]

    @cached_property
    def units(self) -> list[str]:
        return [node.name for node in self.nodes if _is_unit(node)]

    def layer(self, number: int) -> str:
        """Return the mark of a layer; nothing where there is only one."""
        return _high(number) if len(self.units) > 1 else ""


_Way = tuple[str, bool, tuple[str, ...]]
"""What a box reads: a box, an input or memory; True for that of the step before; matrices on the way."""


class _Builder:
    def __init__(self, experiment: ExperimentBase, model: ProgramModel) -> None:
        self._experiment: Any = experiment
        self._model: Any = model
        self._boxes, self._edges = list[Box](), list[Edge]()
        self._matrices, self._symbols = dict[str, list[str]](), dict[int, str]()
        self._row = 0

    def build(self, name: str, cut_every: int) -> NetworkDiagram:
        programs = self._model.programs()
        encoders = {one: parts for one, parts in programs.items() if one.startswith("encoder")}
        if not encoders:
            found = self._predict(programs["recurrence"])
        elif "decoder" in programs:
            found = self._decode(*self._encode((*SOURCE, END), encoders), programs["decoder"])
        else:
            found = self._answer(self._encode(SOURCE, encoders)[0])
        matrices = {symbol: ", ".join(places) for symbol, places in self._matrices.items()}
        boxes, edges = tuple(self._boxes), tuple(self._edges)
        return NetworkDiagram(name, found, boxes, edges, matrices, self._cuts(cut_every) if cut_every else ())

    def _cuts(self, every: int) -> tuple[tuple[float, str], ...]:
        steps = 1 + int(max(box.column for box in self._boxes if box.kind == "unit"))
        truncation = getattr(getattr(self._experiment, "recurrence", None), "truncation", None)
        if getattr(truncation, "kind", "chunk") == "window":
            last = f"L{_low(steps)}"
            return ((steps - every - 1.5, f"the gradient of {last} stops here"),) if every < steps - 1 else ()
        return tuple((cut - 0.5, "the gradient stops here") for cut in range(every, steps, every))

    def _box(self, label: str, kind: str, column: float, row: int, note: str = "") -> int:
        self._boxes.append(Box(label, kind, column, row, note))
        return len(self._boxes) - 1

    def _link(self, start: int, end: int, kind: str = "flow", *matrices: str) -> None:
        state = kind == "state"
        if not any((one.start, one.end, one.kind == "state") == (start, end, state) for one in self._edges):
            self._edges.append(Edge(start, end, kind, matrices))

    def _matrix(self, symbol: str, place: str, shapes: Sequence[Sequence[int]] = (), weight: object = None) -> str:
        """Return the symbol of a matrix: that of the same ``weight`` where it has one already."""
        if weight is not None:
            symbol = self._symbols.setdefault(id(weight), symbol)
        known = [" × ".join(map(str, shape)) for shape in shapes if all(shape)]
        text = " ".join([place, ", ".join(known)]).strip()
        places = self._matrices.setdefault(symbol, [])
        if text not in places:
            places.append(text)
        return symbol

    def _inputs(self, words: Sequence[str], side: str, embedding: Any) -> list[int]:
        """Draw words and their vectors; of a network of vectors, these alone."""
        letter, vectors = ("y" if side == "target" else "x"), list[int]()
        if embedding is not None:
            weight = getattr(embedding, "weight", None)
            symbol = "E\u2032" if "E" in self._matrices else "E"
            symbol = self._matrix(symbol, f"{side} embedding", () if weight is None else [weight.shape], weight)
        for column, word in enumerate(words):
            above = self._row + (embedding is not None)
            vectors.append(self._box(f"{letter}{_low(column + 1)}", "embedding", column, above))
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
        states = self._unroll(_Lane("recurrence", parts, below, range(len(below)), "h"))
        self._outputs(states, [*words, END] if embedding else [f"x{_low(n + 2)}" for n in range(len(below))])
        return "each step predicts what it reads next, from what it has read before"

    def _encode(
        self, words: Sequence[str], programs: Mapping[str, Sequence[PartDescription]]
    ) -> tuple[list[int], list[list[int]]]:
        """Draw an encoder; return its annotations, and for each layer the states that encode the sentence."""
        config, model, last = self._experiment.encoder, self._model, list[list[int]]()
        if getattr(config, "reversed", False):
            words = (*reversed(words[:-1]), words[-1])
        own = None if hasattr(model, "written") else getattr(model, "embedding", None)
        below = self._inputs(words, "source", getattr(model, "source_embedding", own))
        if not any(programs.values()):
            whole = self._box("c", "sentence", (len(words) - 1) / 2, self._row, getattr(config, "kind", ""))
            for one in below:
                self._link(one, whole)
            self._row += 1
            return [whole], [[whole]]
        both, deep = len(programs) > config.layers, config.layers > 1
        for layer in range(config.layers):
            mark, states = _high(layer + 1) if deep else "", dict[bool, list[int]]()
            for name, parts in programs.items():
                if name.startswith(f"encoder layer {layer},"):
                    back = name.endswith("right to left")
                    order = range(len(words))[::-1] if back else range(len(words))
                    arrow = ("\u2190" if back else "\u2192") if both else ""
                    states[back] = self._unroll(_Lane(name, parts, below, order, "h", mark + arrow))
            used = {"both": (True, False), "backward": (True,)}.get(config.sentence_encoding_from, (False,))
            last.append([one[0 if back else -1] for back, one in states.items() if back in used or not both])
            below = list(states.values())[-1]
            if both:
                below = [
                    self._box(f"h{mark}{_low(n + 1)}", "sentence", n, self._row, "[\u2190; \u2192]")
                    for n in range(len(words))
                ]
                for one_way in states.values():
                    for start, end in zip(one_way, below, strict=True):
                        self._link(start, end)
                self._row += 1
        return below, last

    def _decode(self, annotations: list[int], last: list[list[int]], parts: Sequence[PartDescription]) -> str:
        """Draw a decoder from <s>, one word behind what it writes."""
        config, first, start = self._experiment.decoder, dict[str, Sequence[int]](), tuple[str, ...]()
        attention = [part for part in parts if _attends(part)]
        if config.initial_state != "zero":
            above = max(0, len(last) - config.layers)
            of_layer = [last[min(above + n, len(last) - 1)] for n in range(config.layers)]
            first = {
                f"layer{n}": annotations if config.initial_state == "mean" else of_layer[n]
                for n in range(config.layers)
            }
        if config.initial_state in ("project", "mean"):
            start = (self._matrix("W_s", "initial state of the decoder"),)
        self._row += 1
        below = self._inputs([START, *TARGET], "target", getattr(self._model, "written", None))
        memory = annotations if attention else last[-1]
        lane = _Lane("decoder", parts, below, range(len(below)), "s", "", memory, first, start)
        words = [*TARGET, END] if hasattr(self._model, "written") else [f"y{_low(n + 2)}" for n in range(len(below))]
        self._outputs(self._unroll(lane), words)
        config = self._experiment.encoder
        order = "in both directions" if getattr(config, "bidirectional", False) else "from left to right"
        order = "backwards" if getattr(config, "reversed", False) else order
        order = order if len(annotations) > 1 else "as a whole"
        if attention:
            asks = "before" if any(one.previous for one in attention[0].reads) else "of the step"
            return f"the source is read {order}, and each output looks at all of it, asked by the state {asks}"
        return f"the source is read {order}, and one vector carries all of it to the decoder"

    def _answer(self, annotations: list[int]) -> str:
        """Draw tags, or the pooling and the class of a classifier."""
        if not hasattr(self._experiment, "classes"):
            self._outputs(annotations, [f"tag{_low(n + 1)}" for n in range(len(annotations))])
            return "each word is tagged from what stands on both sides of it"
        pooling, middle = self._experiment.classes.pooling, (len(annotations) - 1) / 2
        pooled = self._box("v", "sentence", middle, self._row, f"{pooling} pooling")
        for one in annotations:
            self._link(one, pooled)
        self._row += 1
        weight = self._model.weights.tensors()["output.weight"]
        self._output(pooled, "class", middle, "", self._matrix("V", "output layer", [weight.shape], weight))
        return f"{pooling} pooling makes one vector of the sentence, and from it comes the class"

    def _outputs(self, states: Sequence[int], words: Sequence[str]) -> None:
        """Draw the probabilities, the words, the losses and their sum."""
        weight = getattr(self._model.output, "weight", None)
        symbol = self._matrix("V", "output layer", () if weight is None else [weight.shape], weight)
        numbered = enumerate(zip(states, words, strict=True))
        losses = [self._output(state, word, column, _low(column + 1), symbol) for column, (state, word) in numbered]
        total = self._box("L", "loss", (len(losses) - 1) / 2, self._row + 3, "sum")
        for one in losses:
            self._link(one, total)

    def _output(self, state: int, word: str, column: float, number: str, symbol: str) -> int:
        kind = getattr(getattr(self._experiment, "output", None), "kind", "full")
        p = self._box(f"p{number}", "output", column, self._row, "softmax" if kind == "full" else kind)
        said, loss = (
            self._box(word, "word", column, self._row + 1),
            self._box(f"L{number}", "loss", column, self._row + 2, "\u2212ln p"),
        )
        self._link(state, p, "flow", symbol)
        self._link(p, said)
        self._link(said, loss)
        return loss

    def _unroll(self, lane: _Lane) -> list[int]:
        """Draw the boxes of a program at every step; return the last of each step, by column."""
        nodes, depths = lane.nodes, dict[str, int]()
        ways = {node.name: self._ways(node, lane) for node in nodes}
        for node in nodes:
            below = [depths[name] + 1 for name, previous, _ in ways[node.name] if name in depths and not previous]
            depths[node.name] = max(below, default=0)
        rows = {name: self._row + row for row, name in enumerate(sorted(depths, key=lambda name: depths[name]))}
        placed: dict[tuple[str, int], int] = {}
        for step, column in enumerate(lane.order):
            for node in nodes:
                letter, kind = ("c", "attention") if _attends(node) else ("o", "readout")
                if _is_unit(node):
                    letter, kind = f"{lane.letter}{lane.layer(lane.units.index(node.name) + 1)}{lane.mark}", "unit"
                end = self._box(f"{letter}{_low(column + 1)}", kind, column, rows[node.name], _note(node))
                placed[node.name, step] = end
            for node in nodes:
                for name, previous, matrices in ways[node.name]:
                    starts, how = [placed.get((name, step - previous))], "carried" if previous else "flow"
                    if name in ("x", "memory"):
                        starts = [lane.below[column]] if name == "x" else [*lane.memory]
                        how = "attention" if name == "memory" and _attends(node) else "flow"
                    elif previous and not step:
                        starts, how = [*lane.first.get(name, ())] if name == node.name else [], "state"
                        matrices = lane.start
                    for start in starts:
                        if start is not None:
                            self._link(start, placed[node.name, step], how, *matrices)
        self._row += len(nodes)
        steps = {column: step for step, column in enumerate(lane.order)}
        return [placed[nodes[-1].name, steps[column]] for column in range(len(lane.order))]

    def _ways(self, node: PartDescription, lane: _Lane) -> list[_Way]:
        """Return what a box reads, directly first, then through projections and sums on the way."""
        writer = {signal: part for part in lane.parts for signal in part.writes}

        def trace(read: SignalRead, previous: bool, matrices: tuple[str, ...], passed: Sequence[str]) -> Iterator[_Way]:
            part, previous = writer.get(read.signal), previous or read.previous
            if part is None or part in lane.nodes:
                yield (read.signal if part is None else part.name), previous, matrices
            elif part.memory:
                yield "memory", False, (*self._of(part, lane), *matrices)
            elif part.name not in passed:
                for one in part.reads:
                    yield from trace(one, previous, (*self._of(part, lane), *matrices), [*passed, part.name])

        found: list[_Way] = [("memory", False, ())] if node.memory else []
        for read in sorted(node.reads, key=lambda read: writer.get(read.signal) not in lane.nodes):
            found += trace(read, False, self._of(node, lane) if writer.get(read.signal) in lane.nodes else (), [])
        return found

    def _of(self, part: PartDescription, lane: _Lane) -> tuple[str, ...]:
        """Return the symbol of the matrices of a part."""
        shapes = [shape for shape in part.weights.values() if len(shape) == 2]
        base = part.name.rstrip("0123456789")
        symbol = _SYMBOLS.get(base, "W")
        if base in ("input", "layer", "ask"):
            number = int(part.name[len(base) :] or 0)
            symbol += lane.layer(number + 1) + lane.mark + ("\u2032" if lane.letter == "s" else "")
        return (self._matrix(symbol, f"{lane.name}, {part.name}", shapes),) if shapes else ()


def _is_unit(part: PartDescription) -> bool:
    return part.kind.startswith("Unit")


def _attends(part: PartDescription) -> bool:
    return "weights" in part.writes


def _note(part: PartDescription) -> str:
    """Return the unit, the score or the function of a box."""
    kind, _, options = part.kind.rstrip(")").partition(" (")
    if _is_unit(part):
        return options.split(",")[0]
    return options.split(",")[0] or {"Activate": "tanh", "GaussianWindow": "window", "Add": "sum"}.get(
        kind, kind.lower()
    )


def _low(number: int) -> str:
    return str(number).translate(_SUBSCRIPTS)


def _high(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)
