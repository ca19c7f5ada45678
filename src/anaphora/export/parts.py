"""Step parts as ONNX operators: ``forward`` of each part, written as nodes of a graph for rows of one sentence.

What has no operators here is refused by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anaphora.export.graph import END, Graph, refuse_graph
from anaphora.kernels.attention import Attend
from anaphora.kernels.normalisation import EPSILON
from anaphora.kernels.ops import Ops
from anaphora.kernels.parts import Part, previous
from anaphora.kernels.program import Program, stages
from anaphora.kernels.scores import Location


@dataclass(frozen=True)
class Parts:
    """Parts of one program on their way into a graph, with the weights and the memory of its network."""

    graph: Graph
    prefix: str
    """Prefix of the names of its weights in the checkpoint."""
    weights: Mapping[str, np.ndarray[Any, Any]]
    memory: Mapping[str, str] = field(default_factory=dict)
    """Signals by the names of memory tensors."""

    def matmul(self, name: str, signal: str) -> str:
        """Return the product W a."""
        return self.graph.node("MatMul", signal, self.vector(name, transposed=True))

    def vector(self, name: str, *, transposed: bool = False) -> str:
        return self.graph.weight(f"{self.prefix}{name}", self.weights[name], transposed=transposed)

    def project(self, name: str, signal: str, bias: bool) -> str:
        """W a (+ b)."""
        product = self.matmul(f"{name}.weight", signal)
        return self.graph.add([product, self.vector(f"{name}.bias")]) if bias else product

    def step(self, program: Program, signals: Mapping[str, str]) -> dict[str, str]:
        """Return one step of rows: all signals, from the inputs and, by ``previous``, the state."""
        found = dict(signals)
        for part in program.parts:
            found.update(self._write(part, found))
        return found

    def whole(self, program: Program, signals: Mapping[str, str], first: Mapping[str, str]) -> dict[str, str]:
        """Return all steps of a sequence, S x width; ``last NAME`` is a carried signal after the last."""
        found = dict(signals)
        for stage in stages(program):
            if not stage.loops:
                found.update(self._write(stage.parts[0], found))
                continue
            written = [name for part in stage.parts for name in part.writes]
            reads = dict.fromkeys(read for part in stage.parts for read in part.reads)
            carried = [name for name in program.carried if previous(name) in reads]
            given = [read for read in reads if read in found]
            body = self.graph.body()
            inside = {previous(name): body.input(f"{previous(name)} {body.name}", [None]) for name in carried}
            inside |= {name: body.input(f"{name} {body.name}", [None]) for name in given}
            parts = Parts(body, self.prefix, self.weights, self.memory)
            for part in stage.parts:
                inside.update(parts._write(part, inside))
            for count, name in enumerate([*carried, *written]):
                body.output(f"{name} {body.name} {count}", inside[name], [None])
            made = self.graph.scan(body, [first[n] for n in carried], [found[n] for n in given], len(written))
            found |= {f"last {name}": signal for name, signal in zip(carried, made, strict=False)}
            found |= dict(zip(written, made[len(carried) :], strict=True))
        return found

    def _write(self, part: Part, signals: Mapping[str, str]) -> dict[str, str]:
        """Return the signals that a part writes."""
        reach = part.score.max_length if isinstance(part, Attend) and isinstance(part.score, Location) else 0
        ops = OnnxWriter(self, part.name, reach)
        try:
            written, _ = part.forward(ops, [signals[read] for read in part.reads])
        except NotImplementedError:
            raise refuse_graph(f"the step part '{part.name}' ({type(part).__name__})") from None
        return dict(zip(part.writes, written, strict=True))


class OnnxWriter(Ops[str]):
    """Operations of one part: values are names of rows (N x width); positions are a further dimension, N x S x width.

    Open positions are the name of a mask of the closed ones; empty where all are open, since a sentence has no padding.
    """

    def __init__(self, parts: Parts, part: str, reach: int = 0) -> None:
        """``part`` is the name in front; ``reach`` positions have a score, with 0 all."""
        self._parts, self._graph, self.part, self._reach = parts, parts.graph, part, reach
        self._widths = dict[str, int]()
        """Of products and what is as wide, by name."""
        self._joined = dict[str, tuple[str, ...]]()
        """Blocks side by side, which are split again without a node."""

    def _as_wide_as(self, a: str, made: str) -> str:
        if a in self._widths:
            self._widths[made] = self._widths[a]
        return made

    def product(self, name: str, a: str) -> str:
        made = self._parts.matmul(self.full(name), a)
        self._widths[made] = len(self._parts.weights[self.full(name)])
        return made

    def mix(self, name: str, a: str, open_: str) -> str:
        return self._graph.node("MatMul", a, self.sentences(name))

    def dot(self, name: str, a: str, open_: str) -> str:
        return self._graph.node("MatMul", a, self._graph.node("Transpose", self.sentences(name), perm=[1, 0]))

    def vector(self, name: str) -> str:
        return self._parts.vector(self.full(name))

    columns = vector

    def sentences(self, name: str) -> str:
        if name == "length":
            return self._graph.node("Cast", self._length(), to=1)
        return self._parts.memory[self.full(name)]

    def _length(self) -> str:
        return self._graph.length(self.sentences("values"))

    def number(self, number: float) -> str:
        return self._graph.constant(float(number))

    def width(self, a: str) -> int:
        return 0  # of rows that C makes

    def split(self, a: str, *blocks: int) -> Sequence[str]:
        pieces = self._joined.get(a) or self._graph.split(a, sum(blocks))
        ends = np.cumsum(blocks)
        return [self.join(*pieces[end - block : end]) for block, end in zip(blocks, ends, strict=True)]

    def join(self, *blocks: str) -> str:
        made = self._graph.join(blocks)
        pieces = tuple(piece for block in blocks for piece in self._joined.get(block, (block,)))
        self._joined[made] = pieces
        return made

    def sum(self, values: Sequence[str], keeps: bool = False) -> str:
        return self._as_wide_as(values[0], self._graph.add(values))

    def add_vector(self, a: str, name: str) -> str:
        full = self.full(name)
        vector = self._parts.weights[full]
        missing = self._widths.get(a, 0) - vector.shape[-1]
        if missing <= 0:
            return self.sum((a, self.vector(name)))
        padded = self._graph.weight(f"{self._parts.prefix}{full} of the last {missing}", np.pad(vector, (missing, 0)))
        return self.sum((a, padded))

    def add_number(self, a: str, number: float) -> str:
        return self._graph.add([a, self.number(number)])

    def sub(self, a: str, b: str) -> str:
        return self._graph.node("Sub", a, b)

    def mul(self, a: str, b: str) -> str:
        return self._graph.multiply(a, b)

    def tanh(self, a: str) -> str:
        return self._graph.node("Tanh", a)

    def sigmoid(self, a: str) -> str:
        return self._graph.node("Sigmoid", a)

    def relu(self, a: str) -> str:
        return self._graph.node("Relu", a)

    def maxout(self, t: str) -> str:
        return self._graph.node("Max", *(self._graph.slice(t, start, END, 2, axis=-1) for start in (0, 1)))

    def normal(self, a: str, gain: str, bias: str = "") -> tuple[str, None]:
        scaled = [self.vector(gain), *([self.vector(bias)] if bias else [])]
        return self._as_wide_as(a, self._graph.node("LayerNormalization", a, *scaled, epsilon=EPSILON)), None

    positions = 0  # as for ``width``

    def whole(self) -> str:
        return self._graph.node("Greater", self.places(), self.number(self._reach)) if self._reach else ""

    def softmax(self, e: str, open_: str, scale: float) -> str:
        e = self.scale(e, scale)
        e = self._graph.node("Where", open_, self.number(-np.inf), e) if open_ else e
        return self._graph.node("Softmax", e, axis=-1)

    def scale(self, a: str, number: float) -> str:
        return a if number == 1 else self.mul(a, self.number(number))

    def exp(self, a: str) -> str:
        return self._graph.node("Exp", a)

    def capped_exp(self, a: str, largest: float) -> tuple[str, str]:
        value = self.exp(self.minimum(a, self.number(largest)))
        return value, value  # the derivative has no use

    def log_sigmoid(self, a: str) -> str:
        return self._graph.node("Neg", self._graph.node("Softplus", self._graph.node("Neg", a)))

    def minimum(self, a: str, b: str) -> str:
        return self._graph.node("Min", a, b)

    def squeeze(self, a: str) -> str:
        return self._graph.node("Squeeze", a, self._graph.constant([-1]))

    def at_positions(self, a: str) -> str:
        return self._graph.unsqueeze(a, -1)

    def over_positions(self, a: str) -> str:
        return self._graph.unsqueeze(a, -2)

    def sum_positions(self, a: str) -> str:
        return self._graph.node("ReduceSum", a, self._graph.constant([-2]), keepdims=0)

    def places(self) -> str:
        end = self._graph.node("Squeeze", self._graph.node("Add", self._length(), self._graph.constant([1])))
        return self._graph.node(
            "Cast", self._graph.node("Range", self._graph.constant(1), end, self._graph.constant(1)), to=1
        )

    def near(self, distance: str, first: int, last: int) -> str:
        below = self._graph.node("Less", distance, self.number(first))
        closed = self._graph.node("Or", below, self._graph.node("Greater", distance, self.number(last)))
        beyond = self.whole()
        return self._graph.node("Or", closed, beyond) if beyond else closed

    def only_open(self, a: str, open_: str) -> str:
        return a

    def median(self, weights: str) -> str:
        so_far = self._graph.node("CumSum", weights, self._graph.constant(-1))
        below = self._graph.node("Less", self.scale(so_far, 2), self._graph.slice(so_far, -1, END, axis=-1))
        counted = self._graph.node("ReduceSum", self._graph.node("Cast", below, to=1), self._graph.constant([-1]))
        return self.add_number(counted, 1)

    def neighbours(self, a: str, radius: int) -> str:
        each = self._graph.weight(f"windows of {radius}", np.eye(2 * radius + 1)[:, None])
        seen = self._graph.node("Conv", self._graph.unsqueeze(a, 1), each, pads=[radius, radius])
        return self._graph.node("Transpose", seen, perm=[0, 2, 1])

    def cut_or_pad(self, a: str, width: int) -> str:
        beyond = self._graph.node("Concat", self._graph.constant([0, 0, 0]), self._length(), axis=0)
        ends = self._graph.constant([0]), self._length(), self._graph.constant([1])
        return self._graph.node("Slice", self._graph.node("Pad", a, beyond), *ends)
