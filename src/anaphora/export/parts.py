"""Step parts as ONNX operators: what ``forward`` of each part computes, for rows of one sentence.

Numbers of steps in comments are those of the parts (``kernels/``). What has no operators here is refused by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anaphora.export.attention import Attention, attend_through_window, move_gaussians
from anaphora.export.graph import END, Operands, unsupported
from anaphora.kernels.attention import Attend
from anaphora.kernels.cells import Elman, Gru, Lstm
from anaphora.kernels.clock import Clock
from anaphora.kernels.constant import Constant
from anaphora.kernels.gate import Gated
from anaphora.kernels.maxout import Maxout
from anaphora.kernels.normalisation import EPSILON, Normalise
from anaphora.kernels.parts import Part, Project, Unit, previous
from anaphora.kernels.program import Program, stages
from anaphora.kernels.sums import Activate, Add
from anaphora.kernels.window import GaussianWindow, Move

_ACTIVATIONS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


@dataclass(frozen=True)
class Parts(Operands):
    """Parts of one program on their way into a graph."""

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
                return Attention(self, part).attend(inputs)
            case Move():
                return [move_gaussians(self, inputs)]
            case GaussianWindow():
                return attend_through_window(self, part, inputs)
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
