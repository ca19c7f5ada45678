"""Networks that predict vectors, as graphs: a step that reads a vector, and an encoder where they write a text.

Vectors are scaled: ``config.json`` has the means and deviations. The step gives the parameters of the density of the
next vector (``kernels.mixture``): ``log_weights`` (N x K), ``means`` and ``log_deviations`` (N x K x D), and of pens
``r`` (N x K), whose tanh is the correlation; or without a density ``means`` (N x D); and the scores of ``flags``.
"""

from math import log
from typing import Any

from anaphora.export.bridge import Start
from anaphora.export.encoder import encoded
from anaphora.export.graph import Graph, Graphs
from anaphora.export.inputs import embedded
from anaphora.export.parts import Parts
from anaphora.export.step import stepped
from anaphora.export.tokens import tokens_of
from anaphora.kernels.mixture import LARGEST, MixtureShape
from anaphora.kernels.program import Program
from anaphora.models.values import PredictionNetwork, SynthesisNetwork, ValueNetwork
from anaphora.nn.outputs.values import MixtureOutput, ValueOutput
from anaphora.tasks.task import Trained


def graphs_of(trained: Trained) -> Graphs:
    """The graphs of a network of vectors. Raises ConfigError for what has no operators."""
    model, step = trained.model, Graph("step")
    experiment: Any = trained.experiment
    assert isinstance(model, ValueNetwork)
    scale, models, tokenizers = experiment.scale, dict[str, Any](), dict[str, Any]()
    memory: dict[str, str] = {}
    initial: dict[str, list[float]] = {}
    if isinstance(model, SynthesisNetwork):
        graph, decoder = Graph("encoder"), model.decoder
        x = embedded(graph, "embedding", model.embedding, graph.input("ids", ["S"], integers=True))
        start = Start(graph, decoder, model.config.attention, model.encoder.width)
        shared = start.given_out(encoded(graph, model.encoder, x))
        models["encoder"], tokenizers["text"] = graph.model(), tokens_of(trained, trained.tokenizers["text"])
        memory = {name: step.input(name, signal.shape) for name, signal in shared.items()}
        program, parts = decoder.program, Parts(step, "decoder.weights.", decoder.weights.tensors(), memory)
    else:
        assert isinstance(model, PredictionNetwork)
        stack = model.recurrence
        initial = {name: rows[0].tolist() for name, rows in stack.initial_state(1).items()}
        program, parts = stack.program, Parts(step, "recurrence.weights.", stack.weights.tensors(), {})
    _step(parts, program, model.output, len(scale.mean_D) + int(scale.pen))
    config = {
        "answers": "vectors",
        "reads": "text" if memory else "nothing",
        "memory": list(memory),
        "state": list(program.carried),
        "initial": initial,
        "pen": scale.pen,
        "upward": scale.upward,
        "mean": list(scale.mean_D),
        "deviation": list(scale.deviation_D),
        "tokenizers": tokenizers,
    }
    return Graphs({**models, "step": step.model()}, config)


def _step(parts: Parts, program: Program, output: ValueOutput, width: int) -> None:
    graph = parts.graph
    signals = stepped(parts, program, graph.input("values", ["N", width]))
    layer = Parts(graph, "output.weights.", output.weights.tensors(), {})
    states = signals[program.returns[0]]
    made = layer.project("values", states, bias=True)
    if isinstance(output, MixtureOutput):
        _mixture(graph, output.shape, made)
    else:
        graph.output("means", made, ["N", output.size])
    graph.output("flags", layer.project("flags", states, bias=True), ["N", output.flags])


def _mixture(graph: Graph, shape: MixtureShape, parameters: str) -> None:
    """Equations 1 to 3."""
    sizes = [size for size in shape.blocks if size]
    w_hat, *rest = graph.nodes("Split", parameters, graph.constant(sizes), outputs=len(sizes), axis=-1)
    by_component = graph.constant([-1, shape.components, shape.size])
    means, s_hat = (graph.node("Reshape", block, by_component) for block in rest[:2])
    graph.output("log_weights", graph.node("LogSoftmax", w_hat, axis=-1), ["N", shape.components])  # 1
    graph.output("means", means, ["N", shape.components, shape.size])
    f = graph.constant(log(shape.min_deviation))
    s = graph.add([f, graph.node("Softplus", graph.node("Sub", s_hat, f))])  # 2
    graph.output("log_deviations", s, ["N", shape.components, shape.size])
    if shape.correlated:
        within = graph.node("Tanh", graph.node("Div", rest[2], graph.constant(LARGEST)))
        graph.output("r", graph.node("Mul", graph.constant(LARGEST), within), ["N", shape.components])  # 3
