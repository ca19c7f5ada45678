"""Attention as ONNX operators: rows of queries (N x Q) over the positions of one sentence (S), none of them padding."""

from collections.abc import Sequence

from anaphora.export.graph import END, Graph, Operands, unsupported
from anaphora.kernels.attention import Attend
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location
from anaphora.kernels.spans import Global, LocalMonotonic, LocalPredictive, Median
from anaphora.kernels.weighing import Sigmoid, Softmax
from anaphora.kernels.window import LARGEST, GaussianWindow


def move_gaussians(operands: Operands, inputs: Sequence[str]) -> str:
    """Return the places of Gaussians after a step."""
    graph, (hat, before) = operands.graph, inputs
    return graph.add([before, _exp(graph, graph.split(hat, 3)[2])])


def attend_through_window(operands: Operands, part: GaussianWindow, inputs: Sequence[str]) -> Sequence[str]:
    """Return the context of Gaussians, and the weights."""
    graph, (hat, kappa) = operands.graph, inputs
    values = operands.memory[f"{part.name}.values"]
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


class Attention:
    """One attention by scores on its way into a graph."""

    def __init__(self, operands: Operands, part: Attend) -> None:
        self._operands, self._part, self._graph = operands, part, operands.graph
        self._values = operands.memory[f"{part.name}.values"]

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
        return self._operands.matmul(f"{self._part.name}.{name}", signal)

    def _vector(self, name: str) -> str:
        return self._operands.vector(f"{self._part.name}.{name}")

    def _positions(self) -> str:
        return _positions(self._graph, self._values)

    def _scores(self, query: str, beside: Sequence[str]) -> str:
        """Return one score for each position, N x S."""
        graph, score = self._graph, self._part.score
        keys = self._operands.memory.get(f"{self._part.name}.keys", "")
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
