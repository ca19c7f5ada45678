"""The operations of ``inference.operations`` as ONNX nodes: of one sequence, whose steps are the rows of a signal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anaphora.export.graph import END, Graph, refuse_graph
from anaphora.export.parts import Parts
from anaphora.inference.operations import Operations
from anaphora.inference.weights import Weights
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.program import Program
from anaphora.kernels.program_data import program_from_data

_WORDS = 1024
"""Words whose vectors are computed from their characters at once."""

Signals = dict[str, str]


class Nodes:
    """A graph that operations are written into; what one says of padding is left out, since a sequence has none."""

    def __init__(self, graph: Graph, weights: Weights) -> None:
        """``weights`` are those of the network."""
        self.graph, self.weights = graph, weights

    def write(self, data: Mapping[str, Any], inputs: Signals) -> Signals:
        """Write the operations of a description; return its outputs by name.

        Raises ConfigError for an operation that has no nodes.
        """
        signals = dict(inputs)
        for operation, names, attributes, outputs in data["operations"]:
            write = getattr(self, operation, None)
            if write is None:
                raise refuse_graph(f'encoder.kind = "{operation.replace("_", "-")}"')
            found = write(*(signals[name] for name in names), **attributes)
            signals.update(zip(outputs, [found] if isinstance(found, str) else found, strict=True))
        return {name: signals[signal] for name, signal in data["outputs"].items() if signals[signal]}

    def parts(self, prefix: str, memory: Signals | None = None) -> Parts:
        """Return the writer of step parts whose weights begin so."""
        return Parts(self.graph, prefix, self.weights.by_prefix(prefix), memory or {})

    def step(self, data: Mapping[str, Any], memory: Signals | None = None) -> tuple[Parts, Program]:
        """Return the writer and the program of a step."""
        return self.parts(data["weights"], memory), program_from_data(data["program"])

    def _weight(self, name: str, transposed: bool = False) -> str:
        return self.graph.weight(name, self.weights[name], transposed=transposed)

    def embed(self, ids: str, table: str, scale: float, norm: float = 0.0) -> str:
        rows = FixedNorm(norm)(self.weights[table])
        found: str = self.graph.node("Gather", self.graph.weight(f"{table} {norm}" if norm else table, rows), ids)
        return found if scale == 1 else self.graph.multiply(found, self.graph.constant(scale))

    def spell(self, ids: str, words: Sequence[Sequence[int]], weights: str, widths: int, highways: int) -> str:
        """Vectors of words that are known become a table; others are computed from their characters, -1 behind them."""
        if words:
            vectors_of = Operations(self.weights).spell(words, weights, widths, highways)
            ids_V: Array = np.arange(len(words))
            chunks = np.split(ids_V, range(_WORDS, len(words), _WORDS))
            table = np.concatenate([vectors_of(None, chunk) for chunk in chunks])
            return self.graph.node("Gather", self.graph.weight(f"{weights}table", table), ids)
        graph, parts, beyond = self.graph, self.parts(weights), widths - 1
        inside = graph.unsqueeze(graph.node("GreaterOrEqual", ids, graph.constant(0)), -1)
        table_of = parts.vector("characters.weight")
        found = graph.node("Gather", table_of, graph.node("Max", ids, graph.constant(0)))
        longer = graph.node(
            "Pad", graph.multiply(found, graph.node("Cast", inside, to=1)), graph.constant([0, 0, 0, 0, beyond, 0])
        )
        moved = [graph.slice(longer, k, k - beyond if k < beyond else END, axis=1) for k in range(widths)]
        tops = list[str]()
        for width in range(1, widths + 1):
            sums = parts.project(f"width{width}", graph.join(moved[:width]), bias=True)  # 1
            sums = graph.node("Where", inside, sums, graph.constant(float("-inf")))
            tops.append(graph.node("Tanh", graph.node("ReduceMax", sums, graph.constant([1]), keepdims=0)))  # 2
        y = graph.join(tops)
        for layer in range(highways):
            t = graph.node("Sigmoid", parts.project(f"transform{layer}", y, bias=True))  # 3
            g = graph.node("Relu", parts.project(f"hidden{layer}", y, bias=True))
            y = graph.add([y, graph.multiply(t, graph.node("Sub", g, y))])  # 4
        return y

    def standardize(self, x: str, mean: Sequence[float], deviation: Sequence[float]) -> str:
        centred = self.graph.node("Sub", x, self.graph.constant(list(mean)))
        return self.graph.node("Div", centred, self.graph.constant(list(deviation)))

    def scan(self, x: str, first: Mapping[str, str], size: int, **step: Any) -> list[str]:
        parts, program = self.step(step)
        start = {name: self.zeros(x, size) for name in program.carried}
        start |= {name: self._weight(of) for name, of in first.items()}
        found = parts.whole(program, {"x": x}, start)
        return [found[program.returns[0]], *(found[f"last {name}"] for name in program.carried)]

    def reverse(self, x: str, but: int) -> str:
        turned = self.graph.slice(x, -1, -END, -1)
        if not but:
            return turned
        return self.graph.join([self.graph.slice(turned, but, END), self.graph.slice(x, -but, END)], axis=0)

    def join(self, *signals: str) -> str:
        return self.graph.join(signals)

    def add(self, *signals: str) -> str:
        return self.graph.add(signals)

    def sum_known(self, x: str, ids: str) -> str:
        return self.graph.node("ReduceSum", x, self.graph.constant([0]), keepdims=0)

    def add_rows(self, x: str, weight: str) -> str:
        return self.graph.add([x, self._weight(weight)])

    def project(self, x: str, weight: str, bias: str) -> str:
        product = self.graph.node("MatMul", x, self._weight(weight, transposed=True))
        return self.graph.add([product, self._weight(bias)]) if bias else product

    def tanh(self, x: str) -> str:
        return self.graph.node("Tanh", x)

    def relu(self, x: str) -> str:
        return self.graph.node("Relu", x)

    def mean(self, x: str) -> str:
        return self.graph.node("ReduceMean", x, self.graph.constant([0]), keepdims=0)

    def max(self, x: str) -> str:
        return self.graph.node("ReduceMax", x, self.graph.constant([0]), keepdims=0)

    def last(self, x: str) -> str:
        return self.graph.node("Gather", x, self.graph.constant(-1))

    def attention_pool(self, x: str, scores: str) -> str:
        weighted = self.graph.multiply(self.graph.node("Softmax", scores, axis=0), x)
        return self.graph.node("ReduceSum", weighted, self.graph.constant([0]), keepdims=0)

    def convolve(self, x: str, weight: str, bias: str, width: int) -> str:
        graph, matrix, left = self.graph, self.weights[weight], (width - 1) // 2
        filters = graph.weight(f"{weight}.filters", matrix.reshape(len(matrix), width, -1).swapaxes(1, 2))
        columns = graph.unsqueeze(graph.node("Transpose", x, perm=[1, 0]), 0)
        found = graph.node("Conv", columns, filters, self._weight(bias), pads=[left, width - 1 - left])
        return graph.node("Transpose", graph.node("Squeeze", found, graph.constant([0])), perm=[1, 0])

    def rows_first(self, x: str, transposed: bool) -> str:
        return x  # a product with keys transposes them

    def closed(self, x: str, reach: int) -> str:
        return ""

    length = closed

    def zeros(self, x: str, width: int) -> str:
        return self.graph.constant([0.0] * width)

    def zero_positions(self, x: str) -> str:
        return self.graph.node("Expand", self.graph.constant(0.0), self.graph.length(x))

    def first_position(self, x: str) -> str:
        rest = self.graph.node("Sub", self.graph.length(x), self.graph.constant([1]))
        beyond = self.graph.node("Concat", self.graph.constant([0]), rest, axis=0)
        return self.graph.node("Pad", self.graph.constant([1.0]), beyond)
