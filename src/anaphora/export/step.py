"""One step of a decoder or a language model as a graph, for N rows of one sentence."""

from typing import Any

from torch import Tensor

from anaphora.export.graph import Graph
from anaphora.export.inputs import embedded
from anaphora.export.parts import Parts
from anaphora.export.refusal import unsupported
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.nn.outputs.output import SoftmaxOutput


def add_step(parts: Parts, program: Program, embedding: tuple[str, Any], output: Any) -> None:
    """From ids and the state to log-probabilities, weights and the next state.

    Raises ConfigError for what has no operators.
    """
    graph = parts.graph
    ids = graph.input("ids", ["N"], integers=True)
    state = {previous(name): graph.input(f"state {name}", ["N", None]) for name in program.carried}
    signals = parts.step(program, {"x": embedded(graph, *embedding, ids), **state})
    graph.output("log_probs", _log_probs(graph, output, signals[program.returns[0]]), ["N", "V"])
    if "weights" in program.returns:
        graph.output("weights", signals["weights"], ["N", "S"])
    for name in program.carried:
        graph.output(f"next {name}", signals[name], ["N", None])


def _log_probs(graph: Graph, output: Any, states: str) -> str:
    if not isinstance(output, SoftmaxOutput):
        raise unsupported(f"the output layer {type(output).__name__}")
    weight: Tensor = output.weight
    logits = graph.node("MatMul", states, graph.weight("output.weight", weight, transposed=True))
    if output.used_bias.numel():
        logits = graph.add([logits, graph.weight("output.bias", output.used_bias)])
    return graph.node("LogSoftmax", logits, axis=-1)
