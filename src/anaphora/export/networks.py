"""Translators and language models as graphs: an encoder that reads one sentence, and a step that writes one token."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from anaphora.export.encoder import SentenceReader
from anaphora.export.graph import Graph
from anaphora.export.parts import Parts
from anaphora.export.refusal import unsupported
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.models.language_model import LanguageModel
from anaphora.models.translator import Translator
from anaphora.nn.embedding import Embedding
from anaphora.nn.outputs.output import SoftmaxOutput


@dataclass(frozen=True)
class Graphs:
    """A network as ONNX models."""

    models: Mapping[str, Any]
    """By name: ``encoder`` of a translator, and ``step``."""
    memory: tuple[str, ...]
    """What the encoder gives the step of a sentence."""
    state: tuple[str, ...]
    """What a step passes on: it reads ``state NAME`` and gives ``next NAME``, N x width."""
    initial: Mapping[str, list[float]] = field(default_factory=dict)
    """The initial state of a language model; a translator's comes from its encoder as ``state NAME``."""
    bos: int = 0
    """The token that is read first."""


def graphs_of(model: Any) -> Graphs:
    """The graphs of a network in evaluation mode.

    Raises ConfigError, naming the option, for one without, MissingExtraError without the library.
    """
    match model:
        case Translator():
            return _translator(model)
        case LanguageModel():
            return _language_model(model)
    raise unsupported(f"a {type(model).__name__}")


def embedded(graph: Graph, name: str, embedding: Any, ids: str) -> str:
    """The vectors of ids."""
    if not isinstance(embedding, Embedding):
        raise unsupported('word vectors of characters (embedding.kind = "character-cnn")')
    found: str = graph.node("Gather", graph.weight(f"{name}.weight", embedding.weight), ids)
    return found if embedding.scale == 1 else graph.node("Mul", found, graph.constant(embedding.scale))


def _translator(model: Translator) -> Graphs:
    if model.language_model:
        raise unsupported('deep fusion (fusion.kind = "deep")')
    decoder, weights = model.decoder, model.decoder.weights.tensors()
    encoder = Graph("encoder")
    source = embedded(encoder, "source_embedding", model.source_embedding, encoder.input("ids", ["S"], integers=True))
    memory, first = SentenceReader(encoder, model).read(source)
    for name, signal in memory.items():
        encoder.output(name, signal.name, signal.shape)
    for name, signal in first.items():
        encoder.output(f"state {name}", signal.name, signal.shape)
    step = Graph("step")
    inputs = {name: step.input(name, signal.shape) for name, signal in memory.items()}
    parts = Parts(step, "decoder.weights.", weights, inputs)
    _step(parts, decoder.program, ("target_embedding", model.target_embedding), model.output)
    return Graphs(
        {"encoder": encoder.model(), "step": step.model()},
        tuple(memory),
        decoder.program.carried,
        bos=model.symbols.bos,
    )


def _language_model(model: LanguageModel) -> Graphs:
    stack, step = model.recurrence, Graph("step")
    parts = Parts(step, "recurrence.weights.", stack.weights.tensors(), {})
    _step(parts, stack.program, ("embedding", model.embedding), model.output)
    initial = {name: rows[0].tolist() for name, rows in stack.initial_state(1).items()}
    return Graphs({"step": step.model()}, (), stack.program.carried, initial, model.stepper().bos)


def _step(parts: Parts, program: Program, embedding: tuple[str, Any], output: Any) -> None:
    """From ids and the state to log-probabilities, weights and the next state, for N rows."""
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
