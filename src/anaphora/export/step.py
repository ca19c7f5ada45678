"""One step of a recurrent network as a graph, for N rows of one sentence; and of one that writes words."""

from typing import Any

from torch import Tensor

from anaphora.export.graph import Graph
from anaphora.export.inputs import embedded
from anaphora.export.parts import Parts
from anaphora.export.refusal import unsupported
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.nn.outputs.output import SoftmaxOutput


def stepped(parts: Parts, program: Program, x: str) -> dict[str, str]:
    """All signals of a step of N rows that reads ``x``; what it carries comes in and goes out, by name."""
    graph = parts.graph
    state = {previous(name): graph.input(f"state {name}", ["N", None]) for name in program.carried}
    signals = parts.step(program, {"x": x, **state})
    for name in program.carried:
        graph.output(f"next {name}", signals[name], ["N", None])
    return signals


def add_step(parts: Parts, program: Program, embedding: tuple[str, Any], output: Any) -> None:
    """From ids and the state to log-probabilities, weights and the next state.

    Raises ConfigError for what has no operators.
    """
    graph = parts.graph
    signals = stepped(parts, program, embedded(graph, *embedding, graph.input("ids", ["N"], integers=True)))
    graph.output("log_probs", _log_probs(graph, output, signals[program.returns[0]]), ["N", "V"])
    if "weights" in program.returns:
        graph.output("weights", signals["weights"], ["N", "S"])


def _log_probs(graph: Graph, output: Any, states: str) -> str:
    if not isinstance(output, SoftmaxOutput):
        raise unsupported(f"the output layer {type(output).__name__}")
    weight: Tensor = output.weight
    logits = graph.node("MatMul", states, graph.weight("output.weight", weight, transposed=True))
    if output.used_bias.numel():
        logits = graph.add([logits, graph.weight("output.bias", output.used_bias)])
    return graph.node("LogSoftmax", logits, axis=-1)
