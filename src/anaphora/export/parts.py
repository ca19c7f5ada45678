"""Step parts as ONNX operators: what ``forward`` of each part computes, for rows of one sentence.

Numbers of steps in comments are those of the parts (``kernels/``). What has no operators here is refused by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from anaphora.export.graph import END, Graph, unsupported
from anaphora.kernels.attention import Attend
from anaphora.kernels.cells import Elman, Gru, Lstm
from anaphora.kernels.clock import Clock
from anaphora.kernels.constant import Constant
from anaphora.kernels.gate import Gated
from anaphora.kernels.maxout import Maxout
from anaphora.kernels.normalisation import EPSILON, Normalise
from anaphora.kernels.parts import Part, Project, Unit, previous
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location
from anaphora.kernels.spans import Global, LocalMonotonic, LocalPredictive, Median
from anaphora.kernels.sums import Activate, Add
from anaphora.kernels.weighing import Sigmoid, Softmax
from anaphora.kernels.window import LARGEST, GaussianWindow, Move

_ACTIVATIONS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


@dataclass(frozen=True)
class Parts:
    """Parts of one program on their way into a graph, with the weights and the memory of its network."""

    graph: Graph
    prefix: str
    """In front of the names of its weights in the checkpoint."""
    weights: Mapping[str, Tensor]
    memory: Mapping[str, str] = field(default_factory=dict)
    """Signals by the names of memory tensors."""

    def matmul(self, name: str, signal: str) -> str:
        """W a."""
        return self.graph.node("MatMul", signal, self.vector(name, transposed=True))

    def vector(self, name: str, *, transposed: bool = False) -> str:
        return self.graph.weight(f"{self.prefix}{name}", self.weights[name], transposed=transposed)

    def project(self, name: str, signal: str, bias: bool) -> str:
        """W a (+ b)."""
        product = self.matmul(f"{name}.weight", signal)
        return self.graph.add([product, self.vector(f"{name}.bias")]) if bias else product

    def step(self, program: Program, signals: Mapping[str, str]) -> dict[str, str]:
        """One step of rows: all signals, from the inputs and, by ``previous``, the state."""
        found = dict(signals)
        for part in program.parts:
            found.update(self._written(part, found))
        return found

    def whole(self, program: Program, signals: Mapping[str, str], first: Mapping[str, str]) -> dict[str, str]:
        """Return all steps of a sequence, S x width; ``last NAME`` is a carried signal after the last."""
        found = dict(signals)
        for stage in stages(program):
            if not stage.loops:
                found.update(self._written(stage.parts[0], found))
                continue
            written = [name for part in stage.parts for name in part.writes]
            reads = dict.fromkeys(read for part in stage.parts for read in part.reads)
            carried = [name for name in program.carried if previous(name) in reads]
            given = [read for read in reads if read in found]
            body = self.graph.body()
            inside = {previous(name): body.input(f"{previous(name)} {id(body)}", [None]) for name in carried}
            inside |= {name: body.input(f"{name} {id(body)}", [None]) for name in given}
            parts = Parts(body, self.prefix, self.weights, self.memory)
            for part in stage.parts:
                inside.update(parts._written(part, inside))
            for count, name in enumerate([*carried, *written]):
                body.output(f"{name} {id(body)} {count}", inside[name], [None])
            made = self.graph.scan(body, [first[n] for n in carried], [found[n] for n in given], len(written))
            found |= {f"last {name}": signal for name, signal in zip(carried, made, strict=False)}
            found |= dict(zip(written, made[len(carried) :], strict=True))
        return found

    def _written(self, part: Part, signals: Mapping[str, str]) -> dict[str, str]:
        """Return the signals that a part writes."""
        return dict(zip(part.writes, self._lowered(part, [signals[read] for read in part.reads]), strict=True))

    def _lowered(self, part: Part, inputs: Sequence[str]) -> Sequence[str]:
        graph = self.graph
        match part:
            case Project():
                return [self.project(part.name, inputs[0], part.bias)]
            case Unit():
                return self._unit(part, graph.add(inputs[: len(part.inputs)]), inputs[len(part.inputs) :])
            case Attend():
                return _Attention(self, part).attend(inputs)
            case Move():
                return [_move_gaussians(self, inputs)]
            case GaussianWindow():
                return _attend_through_window(self, part, inputs)
            case Activate():
                return [graph.node("Tanh", graph.add(inputs))]
            case Add():
                return [graph.add(inputs)]
            case Maxout():
                total = graph.add(inputs)
                odd, even = (graph.slice(total, start, END, 2, axis=-1) for start in (0, 1))
                return [graph.node("Max", odd, even)]
            case Normalise():
                bias = [self.vector(f"{part.name}.bias")] if part.bias else []
                return [self._normal(graph.add(inputs), f"{part.name}.gain", bias)]
            case Clock():
                return [graph.add([inputs[0], graph.constant(1.0)])]
            case Gated():
                return [graph.multiply(graph.node("Sigmoid", inputs[0]), inputs[1])]
            case Constant():
                return [self.memory[f"{part.name}.vector"]]
        raise unsupported(f"the step part '{part.name}' ({type(part).__name__})")

    def _normal(self, signal: str, gain: str, bias: Sequence[str] = ()) -> str:
        return self.graph.node("LayerNormalization", signal, self.vector(gain), *bias, epsilon=EPSILON)

    def _unit(self, part: Unit, x: str, state: Sequence[str]) -> Sequence[str]:
        """Return the new state of a recurrent unit."""
        graph, name = self.graph, part.name

        def product(short: str, signal: str) -> str:
            found = self.matmul(f"{name}.{short}", signal)
            if part.normalised:
                found = self._normal(found, f"{name}.{short}_gain")
            conditioned = part.conditioned and short == "h"
            return graph.add([found, self.memory[f"{name}.condition"]]) if conditioned else found

        def sigmoid(*signals: str) -> str:
            return graph.node("Sigmoid", graph.add(signals))

        def between(old: str, new: str, gate: str) -> str:
            return graph.add([old, graph.multiply(gate, graph.node("Sub", new, old))])

        cell = part.cell
        if type(cell) is Lstm:
            i, f, g, o = graph.split(graph.add([x, product("h", state[0])]), 4)  # 1
            kept = graph.multiply(sigmoid(f), state[1])
            c = graph.add([kept, graph.multiply(sigmoid(i), graph.node("Tanh", g))])  # 2, 3
            return [graph.multiply(sigmoid(o), graph.node("Tanh", c)), c]  # 4, 5
        if type(cell) is Gru:
            x_r, x_z, x_g = graph.split(x, 3)
            r, z, *rest = graph.split(product("h", state[0]), 3 if cell.reset == "after" else 2)
            r, z = sigmoid(x_r, r), sigmoid(x_z, z)  # 1
            if cell.reset == "after":
                u = graph.add([*rest, self.vector(f"{name}.bias")] if cell.vectors else rest)
                u = graph.multiply(r, u)  # 2
            else:
                u = product("rh", graph.multiply(r, state[0]))
            g = graph.node("Tanh", graph.add([x_g, u]))  # 3
            return [between(state[0], g, z) if cell.update == "new" else between(g, state[0], z)]  # 4
        if type(cell) is Elman:
            return [graph.node(_ACTIVATIONS[cell.activation], graph.add([x, product("h", state[0])]))]
        raise unsupported(f'the cell "{cell.kind}"')


def _move_gaussians(parts: Parts, inputs: Sequence[str]) -> str:
    """Return the places of Gaussians after a step."""
    graph, (hat, before) = parts.graph, inputs
    return graph.add([before, _exp(graph, graph.split(hat, 3)[2])])


def _attend_through_window(parts: Parts, part: GaussianWindow, inputs: Sequence[str]) -> Sequence[str]:
    """Return the context of Gaussians, and the weights."""
    graph, (hat, kappa) = parts.graph, inputs
    values = parts.memory[f"{part.name}.values"]
    alpha, beta = (graph.unsqueeze(_exp(graph, block), -1) for block in graph.split(hat, 3)[:2])  # 2, N x K x 1
    distance = graph.node("Sub", graph.unsqueeze(kappa, -1), _positions(graph, values))  # 3
    exponent = graph.node("Neg", graph.multiply(beta, graph.multiply(distance, distance)))
    heights = graph.multiply(alpha, graph.node("Exp", exponent))
    weights = graph.node("ReduceSum", heights, graph.constant([-2]), keepdims=0)  # 4
    return graph.node("MatMul", weights, values), weights  # 5


def _exp(graph: Graph, hat: str) -> str:
    return graph.node("Exp", graph.node("Min", hat, graph.constant(LARGEST)))


def _positions(graph: Graph, values: str) -> str:
    """Return 1 .. S as real numbers, for a memory of S rows."""
    end = graph.node("Squeeze", graph.node("Add", graph.length(values), graph.constant([1])))
    return graph.node("Cast", graph.node("Range", graph.constant(1), end, graph.constant(1)), to=1)


class _Attention:
    """Attention by scores: rows of queries (N x Q) over the positions of one sentence (S), none of them padding."""

    def __init__(self, parts: Parts, part: Attend) -> None:
        self._parts, self._part, self._graph = parts, part, parts.graph
        self._values = parts.memory[f"{part.name}.values"]

    def attend(self, inputs: Sequence[str]) -> Sequence[str]:
        """Return the context and the weights."""
        graph, part = self._graph, self._part
        query, *beside = inputs
        to_score = len(part.score.beside)
        scores = self._scores(query, beside[:to_score])
        if part.scale != 1:
            scores = graph.multiply(scores, graph.constant(part.scale))
        closed, factor = self._focus(query, beside[to_score:])
        if isinstance(part.score, Location):
            beyond = graph.node("Greater", self._positions(), graph.constant(float(part.score.max_length)))
            closed = graph.node("Or", closed, beyond) if closed else beyond
        if closed:
            scores = graph.node("Where", closed, graph.constant(float("-inf")), scores)  # 1
        weights = self._normalised(scores)  # 2
        if factor:
            weights = graph.multiply(weights, factor)  # 3
        return graph.node("MatMul", weights, self._values), weights  # 4

    def _matmul(self, name: str, signal: str) -> str:
        return self._parts.matmul(f"{self._part.name}.{name}", signal)

    def _vector(self, name: str) -> str:
        return self._parts.vector(f"{self._part.name}.{name}")

    def _positions(self) -> str:
        return _positions(self._graph, self._values)

    def _scores(self, query: str, beside: Sequence[str]) -> str:
        """Return one score for each position, N x S."""
        graph, score = self._graph, self._part.score
        keys = self._parts.memory.get(f"{self._part.name}.keys", "")
        match score:
            case Dot() | General():
                return graph.node("MatMul", query, graph.node("Transpose", keys, perm=[1, 0]))
            case Location():
                # scores of the first positions, N x L, for all S; those beyond are closed
                scores, length = self._matmul("places", query), graph.length(self._values)
                beyond = graph.node("Concat", graph.constant([0, 0, 0]), length, axis=0)
                starts, axes = graph.constant([0]), graph.constant([1])
                return graph.node("Slice", graph.node("Pad", scores, beyond), starts, length, axes)
            case Concat():
                terms = [graph.unsqueeze(self._matmul("query", query), 1), keys]
                covered = self._vector("coverage") if beside else ""
                return self._layer(terms + [graph.multiply(graph.unsqueeze(one, -1), covered) for one in beside])
            case Hybrid():
                terms = [graph.unsqueeze(self._matmul("query", query), 1)]
                filters = graph.unsqueeze(self._vector("filters"), 1)
                seen = graph.node("Conv", graph.unsqueeze(beside[0], 1), filters, pads=[score.radius, score.radius])
                terms.append(self._matmul("location", graph.node("Transpose", seen, perm=[0, 2, 1])))  # N x S x F
                terms += [self._vector("bias")] if score.bias else []
                return self._layer([*terms, keys] if score.content else terms)
        raise unsupported(f"the attention score {type(score).__name__}")

    def _layer(self, terms: Sequence[str]) -> str:
        """Return v' tanh(sum of terms), N x S x A to N x S."""
        made = self._matmul("v", self._graph.node("Tanh", self._graph.add(terms)))
        return self._graph.node("Squeeze", made, self._graph.constant([-1]))

    def _focus(self, query: str, beside: Sequence[str]) -> tuple[str, str]:
        """Return the closed positions, and the factor of the weights; empty for none."""
        graph, span = self._graph, self._part.span

        def far(distance: str, radius: int) -> str:
            return graph.node("Greater", graph.node("Abs", distance), graph.constant(float(radius)))

        def length() -> str:
            return graph.node("Cast", graph.length(self._values), to=1)

        match span:
            case Global():
                return "", ""
            case LocalMonotonic():
                centre = graph.node("Min", beside[0], length())
                return far(graph.node("Sub", self._positions(), centre), span.radius), ""
            case LocalPredictive():
                u = graph.node("Tanh", self._matmul("centre", query))
                r = graph.node("Sigmoid", self._matmul("centre_v", u))
                distance = graph.node("Sub", self._positions(), graph.multiply(r, length()))
                squared = graph.multiply(distance, distance)
                factor = graph.node("Exp", graph.multiply(squared, graph.constant(-2 / span.radius**2)))
                return far(distance, span.radius), factor
            case Median():
                return self._around_median(beside[0], span.radius), ""
        raise unsupported(f"the attention window {type(span).__name__}")

    def _around_median(self, before: str, radius: int) -> str:
        """Return the closed positions of a window around the median of the weights before."""
        graph = self._graph
        so_far = graph.node("CumSum", before, graph.constant(-1))
        total = graph.slice(so_far, -1, END, axis=-1)
        below = graph.node("Less", graph.multiply(so_far, graph.constant(2.0)), total)
        count = graph.node("ReduceSum", graph.node("Cast", below, to=1), graph.constant([-1]))
        distance = graph.node("Sub", self._positions(), graph.node("Add", count, graph.constant(1.0)))
        before_it = graph.node("Less", distance, graph.constant(float(-radius)))
        behind_it = graph.node("GreaterOrEqual", distance, graph.constant(float(radius)))
        return graph.node("Or", before_it, behind_it)

    def _normalised(self, scores: str) -> str:
        graph, weighing = self._graph, self._part.weighing
        match weighing:
            case Softmax() if weighing.sharpness != 1:
                scores = graph.multiply(scores, graph.constant(weighing.sharpness))
            case Sigmoid():
                scores = graph.node("Neg", graph.node("Softplus", graph.node("Neg", scores)))
        return graph.node("Softmax", scores, axis=-1)
