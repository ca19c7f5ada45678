"""Networks unrolled over a sentence, as papers draw them: boxes, arrows, and the matrix of each arrow.

Programs (``programs.py``) have a part for each operation. Here units, attention and the readout are boxes; projections
between them become the matrices of arrows. Embeddings, outputs and losses are added around them.
"""

from collections.abc import Iterator, Mapping, Sequence
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
    """Symbol, such as "h₁" and "p₁", or a word."""
    kind: str
    """"word", "embedding", "unit", "sentence", "attention", "readout", "output", "loss" or "sum"."""
    column: float
    """Step, from 0."""
    row: int
    """Row from 0 at the bottom."""
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

    def lines(self) -> Iterator[str]:
        yield f"{self.name}: {self.finding}"
        yield from (f"  {symbol}: {one}" for symbol, one in self.matrices.items())
        for edge in self.edges:
            start, end = self.boxes[edge.start].label, self.boxes[edge.end].label
            yield f"  {start} -> {end}" + (f" ({', '.join(edge.matrices)})" if edge.matrices else "")


def network_diagram(name: str, experiment: ExperimentBase, model: ProgramModel, cut_every: int = 0) -> NetworkDiagram:
    """Return the network of an experiment over a sentence; chunks of ``cut_every`` steps, or windows, cut gradients."""
    return _Builder(experiment, model).build(name, cut_every)


_Programs = Mapping[str, Sequence[PartDescription]]
"""Parts of each step by the name of what takes it."""


class _Builder:
    def __init__(self, experiment: ExperimentBase, model: ProgramModel) -> None:
        self._experiment: Any = experiment
        self._model: Any = model
        self._boxes, self._edges = list[Box](), dict[tuple[int, int, bool], Edge]()
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
            found = self._answer(*self._encode(SOURCE, encoders, self._option("classes", "pooling") != "last"))
        cuts = self._cuts(cut_every) if cut_every else ()
        edges = tuple(self._edges.values())
        return NetworkDiagram(name, found, tuple(self._boxes), edges, self._matrices.listed(), cuts)

    def _option(self, section: str, name: str, default: Any = "") -> Any:
        """Return an option of the experiment; the default where it has no such section or option."""
        return getattr(getattr(self._experiment, section, None), name, default)

    def _cuts(self, every: int) -> tuple[tuple[float, str], ...]:
        steps = 1 + int(max(box.column for box in self._boxes if box.kind == "unit"))
        if getattr(self._option("recurrence", "truncation"), "kind", "chunk") == "window":
            last = f"L{low(steps)}"
            return ((steps - every - 1.5, f"the gradient of {last} stops here"),) if every < steps - 1 else ()
        return tuple((cut - 0.5, "the gradient stops here") for cut in range(every, steps, every))

    def _box(
        self, label: str, kind: str, column: float, up: int = 0, note: str = "", reads: Sequence[int] = (), *by: str
    ) -> int:
        """Draw a box so many rows above the lowest free one, and arrows ``by`` matrices from those that it reads."""
        self._boxes.append(Box(label, kind, self._column + column, self._row + up, note))
        for one in reads:
            self._link(one, len(self._boxes) - 1, "flow", *by)
        return len(self._boxes) - 1

    def _link(self, start: int, end: int, kind: str, *matrices: str, label: str = "") -> None:
        self._edges.setdefault((start, end, kind == "state"), Edge(start, end, kind, matrices, label))

    def _inputs(self, words: Sequence[str], side: str, embedding: Any, letter: str = "x", note: str = "") -> list[int]:
        """Draw words and their vectors; of a network of vectors, these alone."""
        read, symbols, weight = list[list[int]](), tuple[str, ...](), getattr(embedding, "weight", None)
        if embedding is not None:
            note = "characters" if weight is None else "and characters" if hasattr(self._model, "characters") else ""
            shapes, symbol = () if weight is None else [weight.shape], "E_l" if letter == "z" else "E"
            symbols = (self._matrices.add(symbol, f"{side} embedding", shapes, weight),)
            read = [[self._box(word, "word", column)] for column, word in enumerate(words)]
            self._row += 1
        vectors = [
            self._box(f"{letter}{low(n + 1)}", "embedding", n, 0, note, read[n] if read else (), *symbols)
            for n in range(len(words))
        ]
        self._row += 1
        return vectors

    def _predict(self, parts: Sequence[PartDescription]) -> str:
        """Draw a language model, or a network that predicts vectors."""
        embedding = getattr(self._model, "embedding", None)
        words: Sequence[str] = "cat" if self._option("text", "tokenizer") == "character" else SOURCE
        begin = END if getattr(self._model.config, "reads", "") == "stream" else START
        below = self._inputs([begin, *words], "word", embedding)
        states = self._unroll(Lane("recurrence", parts, {"x": below}, range(len(below)), "h"))
        self._outputs(states, [*words, END] if embedding else [f"x{low(n + 2)}" for n in range(len(below))])
        return "each step predicts what it reads next, from what it has read before"

    def _encode(self, words: Sequence[str], programs: _Programs, annotated: bool) -> tuple[list[int], list[list[int]]]:
        """Draw an encoder; return its annotations, and for each layer the states that encode the sentence.

        Directions of the last layer are concatenated only where its annotations are read.
        """
        config, model, last = self._experiment.encoder, self._model, list[list[int]]()
        if getattr(config, "reversed", False):
            words = (*reversed(words[:-1]), words[-1])
        own = None if hasattr(model, "written") else getattr(model, "embedding", None)
        embedding, has_steps = getattr(model, "source_embedding", own), any(programs.values())
        regions = ("a", "region") if annotated and not has_steps else ()
        below = self._inputs(words, "source", embedding, *regions)
        if regions:
            return below, [below]
        if not has_steps:
            note = config.kind.replace("-convolution", " conv.")
            whole = [self._box("c", "sentence", (len(words) - 1) / 2, 0, note, below)]
            self._row += 1
            return whole, [whole]
        both = len(programs) > config.layers
        for layer in range(config.layers):
            number, states = high(layer + 1) if config.layers > 1 else "", dict[str, list[int]]()
            for name, parts in programs.items():
                if name.startswith(f"encoder layer {layer},"):
                    back = name.endswith("right to left")
                    mark = (BACKWARD if back else FORWARD) * both + number
                    lane = Lane(name, parts, {"x": below}, range(len(words))[:: -1 if back else 1], "h", mark)
                    states["backward" if back else "forward"] = self._unroll(lane)
            used = config.sentence_encoding_from
            used = (used,) if both and used != "both" else ("forward", "backward")
            last.append([one[0 if way == "backward" else -1] for way, one in states.items() if way in used])
            below = [*states.values()][-1]
            if both and (annotated or layer < config.layers - 1):
                pairs = enumerate(zip(*states.values(), strict=True))
                note = "[\u2190; \u2192]"
                below = [self._box(f"h{number}{low(n + 1)}", "sentence", n, 0, note, pair) for n, pair in pairs]
                self._row += 1
        return below, last

    def _decode(self, annotations: list[int], last: list[list[int]], programs: _Programs) -> str:
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
                memory = [
                    self._box(f"c{low(n + 1)}", "sentence", n, 0, "column", annotations[:1]) for n in range(len(words))
                ]
            elif not attention and len(annotations) > 1:
                summary = self._matrices.of_sentence("summary")
                middle, note = (len(annotations) - 1) / 2, "tanh" if summary else ""
                memory = [self._box("c", "sentence", middle, 0, note, last[-1], *summary)]
                last = [memory] if summary else last
            self._row += attention != [] or memory is not annotations
        above, first = max(0, len(last) - config.layers), dict[str, tuple[Sequence[int], tuple[str, ...]]]()
        for n in range(config.layers if config.initial_state != "zero" else 0):
            encoding = annotations if config.initial_state == "mean" else last[min(above + n, len(last) - 1)]
            number = high(n + 1) if config.layers > 1 else ""
            place = f"initial state of {layer_name(f'decoder layer{n}')}"
            shapes = [
                one.shape
                for name, one in self._of_decoder.items()
                if name.startswith(f"start{n}_") and name.endswith(".weight")
            ]
            first[f"layer{n}"] = encoding, (self._matrices.add(f"W{number}_s", place, shapes),) if shapes else ()
        inputs = {"x": self._inputs(words, "target", getattr(self._model, "written", None), "y")}
        if "language model" in programs:
            language = self._inputs(words, "language model", self._model.language_model.embedding, "z")
            lane = Lane("language model", programs["language model"], {"x": language}, range(len(words)), "l")
            inputs["language"] = self._unroll(lane)
        lane = Lane("decoder", parts, inputs, range(len(words)), "s", "", memory, first, bottom)
        ends = [*TARGET, END] if hasattr(self._model, "written") else [f"y{low(n + 2)}" for n in range(len(words))]
        self._outputs(self._unroll(lane), ends)
        order = "in both directions" if self._option("encoder", "bidirectional") else "from left to right"
        order = "backwards" if self._option("encoder", "reversed") else order
        order = order if self._option("encoder", "layers") else "as a whole"
        if attention:
            asks = "before" if any(one.previous for one in attention[0].reads) else "of the step"
            return f"the source is read {order}, and each output looks at all of it, asked by the state {asks}"
        carries = "a vector of it for each output enters" if columns else "one vector carries all of it to"
        return f"the source is read {order}, and {carries} the decoder"

    def _answer(self, annotations: list[int], last: list[list[int]]) -> str:
        """Draw tags, or the pooling and the class of a classifier."""
        pooling, count = self._option("classes", "pooling"), len(annotations)
        if not pooling:
            self._outputs(annotations, [f"tag{low(n + 1)}" for n in range(count)])
            return "each word is tagged from what stands on both sides of it"
        pooled, kind, symbols = self._box("v", "sentence", (count - 1) / 2, 0, pooling), "flow", tuple[str, ...]()
        if pooling == "attention":
            weights = self._model.weights.tensors()
            shapes = [weights[name].shape for name in ("pool.weight", "pool.query")]
            kind, symbols = "attention", (self._matrices.add("W_a", "attention of the pooling", shapes),)
        for number, one in enumerate(last[-1] if pooling == "last" else annotations, 1):
            labels = {"mean": f"1/{count}", "attention": f"\u03b1{low(number)}", "max": "max"}
            self._link(one, pooled, kind, *symbols, label=labels.get(pooling, ""))
        self._row += 1
        self._outputs([pooled], ["class"])
        return f"{pooling} pooling makes one vector of the sentence, and from it comes the class"

    def _outputs(self, states: Sequence[int], words: Sequence[str]) -> None:
        """Draw the probabilities, the words, the losses, and the sum of several losses."""
        output = getattr(self._model, "output", None)
        parameters = output.parameters() if output else [self._model.weights.tensors()["output.weight"]]
        weights = [one for one in parameters if one.ndim == 2]
        symbol = self._matrices.add("V", "output layer", [one.shape for one in weights], weights[0])
        kind = self._option("output", "kind", self._option("classes", "output", "full"))
        note, losses = "softmax" if kind == "full" else kind, list[int]()
        for state, word in zip(states, words, strict=True):
            column, number = self._boxes[state].column - self._column, low(len(losses) + 1) if len(words) > 1 else ""
            p = self._box(f"p{number}", "output", column, 0, note, [state], symbol)
            said = self._box(word, "word", column, 1, "", [p])
            losses.append(self._box(f"L{number}", "loss", column, 2, "\u2212ln p", [said]))
        if len(losses) > 1:
            self._box("L", "loss", (len(losses) - 1) / 2, 3, "sum", losses)

    def _unroll(self, lane: Lane) -> list[int]:
        """Draw the boxes of a program at every step; return the last of each step, by column."""
        nodes, depths = lane.nodes, dict[str, int]()
        read = {node.name: ways(node, lane, self._matrices) for node in nodes}
        for node in nodes:
            below = [depths[name] + 1 for name, previous, _ in read[node.name] if name in depths and not previous]
            depths[node.name] = max(below, default=0)
        upper = sorted((node.name for node in nodes if not attends(node)), key=lambda name: depths[name])
        placed: dict[tuple[str, int], int] = {}
        for step, column in enumerate(lane.order):
            for node in nodes:
                letter, kind = ("g" if gates(node) else "o"), "readout"
                up = lane.attention_row - self._row if attends(node) else upper.index(node.name)
                if attends(node):
                    letter, kind = "c", "attention"
                elif is_unit(node):
                    letter, kind = f"{lane.letter}{lane.mark}{lane.layer(lane.units.index(node.name))}", "unit"
                placed[node.name, step] = self._box(f"{letter}{low(column + 1)}", kind, column, up, note(node))
            for node in nodes:
                for name, previous, matrices in read[node.name]:
                    starts: Sequence[int] = ()
                    how = "carried" if previous else "flow"
                    if name in lane.inputs:
                        starts = [lane.inputs[name][column]]
                    elif name == "memory" and attends(node):
                        starts, how = lane.memory, "attention"
                    elif name == "memory":
                        several = len(lane.memory) > 1
                        starts, how = [lane.memory[column if several else 0]], "flow" if several else "context"
                    elif not previous or step:
                        starts = [placed[name, step - previous]]
                    elif is_unit(node) and name in lane.first:
                        how, (starts, matrices) = "state", lane.first[name]
                    for number, start in enumerate(starts, 1):
                        label = f"\u03b1{low(column + 1)}{low(number)}" if how == "attention" and column == 1 else ""
                        self._link(start, placed[node.name, step], how, *matrices, label=label)
        self._row += len(upper)
        return [placed[nodes[-1].name, step] for step in sorted(range(len(lane.order)), key=lane.order.__getitem__)]
