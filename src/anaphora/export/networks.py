"""Trained networks as ONNX graphs, written from their descriptions."""

from collections.abc import Mapping
from itertools import pairwise
from math import log
from typing import Any

from torch import nn

from anaphora.export.graph import END, Graph, Graphs, refuse_graph
from anaphora.export.operations import Nodes, Signals
from anaphora.export.parts import Parts
from anaphora.inference.operations import Recurrence
from anaphora.inference.outputs import SoftmaxOutput
from anaphora.inference.sequences import bar_scores
from anaphora.inference.weights import Weights
from anaphora.kernels.densities import LARGEST, MixtureShape
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.models.description import describe
from anaphora.protocols import VocabularyInfo
from anaphora.run.weights import tensors_of

Table = Mapping[str, Any]

_INPUTS: dict[str, tuple[list[str], str]] = {
    "ids": (["S"], "INT64"),
    "characters": (["S", "L"], "INT64"),
    "features": (["F"], "INT64"),
    "values": (["S", "D"], "FLOAT"),
}
"""Shape and type of all that graphs of a whole sequence read."""


def graphs_of(model: nn.Module) -> Graphs:
    """Return the graphs of a trained network.

    Raises ConfigError, naming the option, for one without, MissingExtraError without the library.
    """
    data = describe(model)
    weights = Weights({name: tensor.float().numpy() for name, tensor in tensors_of(model).items()})
    match data["kind"]:
        case "encoder-decoder":
            return _encoder_decoder(weights, data)
        case "recurrent-language-model":
            return _language_model(weights, data)
        case "classifier":
            return _classifier(weights, data)
        case "tagger":
            return _tagger(weights, data)
        case "prediction" | "synthesis":
            return _value_network(weights, data)
    raise refuse_graph(f"a {data['kind']}".replace("-", " "))


def _encoder_decoder(weights: Weights, data: Table) -> Graphs:
    """Return two graphs: an encoder of the input, and a step that writes a token."""
    if data["language_model"]:
        raise refuse_graph('deep fusion (fusion.kind = "deep")')
    if "alignments" in data["decoder"]:
        raise refuse_graph('attention.kind = "hard-monotonic"')
    encoder, step, memory = _encoder(weights, data)
    program = _add_token_step(step, data["decoder"], data, memory)
    config = {"bos": VocabularyInfo(*data["symbols"]).bos, "memory": list(memory), "state": list(program.carried)}
    return Graphs({"encoder": encoder.model(), "step": step.graph.model()}, config)


def _encoder(weights: Weights, data: Table) -> tuple[Graph, Nodes, Signals]:
    """Write an encoder; return its graph, the nodes of the step of its decoder, and the signals of its memory."""
    encoder, step, memory = Nodes(Graph("encoder"), weights), Nodes(Graph("step"), weights), Signals()
    for name, signal in _write(encoder, data["encoder"]).items():
        if name.startswith("state "):
            encoder.graph.output(name, encoder.graph.unsqueeze(signal, 0), (1, None))
            continue
        short = name.removeprefix("memory ")
        shape = ("S", None) if short.startswith(("attention.", "lexical.")) else (None,)
        encoder.graph.output(short, signal, shape)
        memory[short] = step.graph.input(short, shape)
    return encoder.graph, step, memory


def _write(nodes: Nodes, data: Table) -> Signals:
    """Write the operations of a description with the inputs that they read; return its outputs."""
    read = {*data["outputs"].values(), *(name for _, names, *_ in data["operations"] for name in names)}
    inputs = {name: nodes.graph.input(name, *kind) for name, kind in _INPUTS.items() if name in read}
    return nodes.write(data, inputs)


def _language_model(weights: Weights, data: Table) -> Graphs:
    """Return one graph: a step that reads a token."""
    step, symbols = Nodes(Graph("step"), weights), VocabularyInfo(*data["symbols"])
    _add_token_step(step, data["recurrence"], data)
    begin = symbols.bos if data["reads"] == "sentences" else symbols.eos
    return Graphs({"step": step.graph.model()}, {"bos": begin, **_initial_state(weights, data)})


def _initial_state(weights: Weights, data: Table) -> dict[str, Any]:
    """Return the configuration of a step without an encoder."""
    initial = Recurrence(weights, data["recurrence"]).initial_state(1)
    return {"memory": [], "state": list(initial), "initial": {name: row[0].tolist() for name, row in initial.items()}}


def _classifier(weights: Weights, data: Table) -> Graphs:
    """Return one graph: a text or a sequence of vectors in, the probability of each class out."""
    graph, thresholds = Graph("classifier"), weights[data["thresholds"]].tolist()
    scores = _write(Nodes(graph, weights), data["graph"])["scores"]
    probabilities = graph.node("Sigmoid", scores) if thresholds else graph.node("Softmax", scores, axis=-1)
    graph.output("probabilities", probabilities, [len(data["names"])])
    return Graphs({"classifier": graph.model()}, {"names": data["names"], "thresholds": thresholds})


def _tagger(weights: Weights, data: Table) -> Graphs:
    """Return one graph: words or vectors in, a score for each tag of each out; of a CRF its other scores, too."""
    graph = Graph("tagger")
    graph.output("scores", _write(Nodes(graph, weights), data["graph"])["scores"], ["S", None])
    for name, one in data["chain"].items():
        scores = bar_scores(weights[one["weight"]], one["barred"])
        graph.output(name, graph.weight(one["weight"], scores), list(scores.shape))
    return Graphs({"tagger": graph.model()}, {"several": data["several"]})


def _value_network(weights: Weights, data: Table) -> Graphs:
    """Return a step that reads a vector, and an encoder where the network writes a text.

    The step gives the parameters of the density of the next vector (``kernels.densities``): ``log_weights`` (N x K),
    ``means`` and ``log_deviations`` (N x K x D), and of pens ``r`` (N x K), whose tanh is the correlation; or without a
    density ``means`` (N x D); and scores of ``flags``.
    """
    models = dict[str, Any]()
    if data["kind"] == "synthesis":
        encoder, step, memory = _encoder(weights, data)
        models["encoder"] = encoder.model()
        parts, program = step.step(data["decoder"], memory)
        config = {"memory": list(memory), "state": list(program.carried)}
    else:
        step, config = Nodes(Graph("step"), weights), _initial_state(weights, data)
        parts, program = step.step(data["recurrence"])
    graph, layer, flags = step.graph, step.parts(data["output"]), data["flags"]
    x = graph.input("values", ["N", data["size"] + flags - 1])  # what is predicted has the flag of the end more
    states = _step_signals(parts, program, x)[program.returns[0]]
    made = layer.project("values", states, bias=True)
    if data["mixture"]:
        _mixture(graph, MixtureShape(**data["mixture"]), made)
    else:
        graph.output("means", made, ["N", data["size"]])
    graph.output("flags", layer.project("flags", states, bias=True), ["N", flags])
    return Graphs({**models, "step": graph.model()}, config)


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
        graph.output("r", graph.multiply(graph.constant(LARGEST), within), ["N", shape.components])  # 3


def _step_signals(parts: Parts, program: Program, x: str) -> Signals:
    """Return all signals of a step of N rows that reads ``x``; what it carries comes in and goes out, by name."""
    graph = parts.graph
    state = {previous(name): graph.input(f"state {name}", ["N", None]) for name in program.carried}
    signals = parts.step(program, {"x": x, **state})
    for name in program.carried:
        graph.output(f"next {name}", signals[name], ["N", None])
    return signals


def _add_token_step(step: Nodes, data: Table, layers: Table, memory: Signals | None = None) -> Program:
    """Add a step from ids and the state to log-probabilities, weights and the next state; return the program.

    ``data`` is the step, ``layers`` has the embedding before it and the output behind it. Raises ConfigError for what
    has no operators.
    """
    graph = step.graph
    x = step.write(layers["embedding"], {"ids": graph.input("ids", ["N"], "INT64")})["x"]
    parts, program = step.step(data, memory)
    signals = _step_signals(parts, program, x)
    graph.output("log_probs", _log_probs(step, layers["output"], signals[program.returns[0]]), ["N", "V"])
    if "weights" in program.returns:
        graph.output("weights", signals["weights"], ["N", "S"])
    return program


def _log_probs(step: Nodes, data: Table, states: str) -> str:
    if data["kind"] != "softmax":
        raise refuse_graph(f'output.kind = "{data["kind"]}"')
    graph, output = step.graph, SoftmaxOutput(step.weights, data)
    if radius := output.norm.radius:
        ends = (0, output.norm.first, END) if output.norm.first else (0, END)
        blocks = [graph.slice(states, *block, axis=-1) for block in pairwise(ends)]
        blocks = [graph.node("LpNormalization", block, axis=-1, p=2) for block in blocks]
        states = graph.multiply(graph.join(blocks), graph.constant(radius))
    logits = graph.node("MatMul", states, graph.weight("output.weight", output.weight_VH, transposed=True))
    if output.bias_V.size:
        logits = graph.add([logits, graph.weight("output.bias", output.bias_V)])
    return graph.node("LogSoftmax", logits, axis=-1)
