"""Trained networks as graphs, with the configuration and the tokenizers that the driver reads."""

from collections.abc import Mapping
from math import log
from typing import Any, cast

from anaphora.errors import ConfigError
from anaphora.export.graph import Graph, Graphs, refuse_graph
from anaphora.export.operations import Nodes
from anaphora.export.parts import Parts
from anaphora.formats.tagged import PATTERN
from anaphora.inference.operations import Weights
from anaphora.inference.outputs import SoftmaxOutput
from anaphora.inference.sequences import with_barred
from anaphora.kernels.mixture import LARGEST, MixtureShape
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.models.classifier import PooledClassifier, VectorClassifier
from anaphora.models.description import describe
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.language_model import LanguageModel
from anaphora.models.tagger import StepTagger, Tagger, VectorTagger
from anaphora.models.translator import Translator
from anaphora.models.values import PredictionNetwork, SynthesisNetwork, ValueNetwork
from anaphora.models.writers import Describer, VectorTransducer
from anaphora.nn.outputs.values import MixtureOutput, ValueOutput
from anaphora.nn.vectors import VectorsConfig
from anaphora.run.weights import tensors_of
from anaphora.tasks.classify.task import ExamplesData
from anaphora.tasks.registry import task_of
from anaphora.tasks.task import TrainedModel
from anaphora.tasks.transduce.predictor import SHORTEST
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.joiner_tokens import OPENING, WORD, JoinerTokens
from anaphora.text.symbols import SymbolTokenizer, can_copy
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer


def graphs_of(trained: TrainedModel) -> Graphs:
    """Return the graphs of a trained network in evaluation mode.

    Raises ConfigError, naming the option, for one without, MissingExtraError without the library.
    """
    match trained.model:
        case EncoderDecoder() as model:
            return _sequence_graphs(trained, model)
        case LanguageModel() as model:
            return _language_model_graphs(trained, model)
        case PooledClassifier() as model:
            return _classifier_graphs(trained, model)
        case StepTagger() as model:
            return _tagger_graphs(trained, model)
        case ValueNetwork() as model:
            return _value_graphs(trained, model)
    plural = task_of(trained.experiment).plural
    raise ConfigError(f"There are no ONNX graphs of {plural}: use the run itself.")


def _sequence_graphs(trained: TrainedModel, model: EncoderDecoder) -> Graphs:
    """Return two graphs: an encoder of the input, and a step that writes a token."""
    data, weights = described(trained)
    if data["language_model"]:
        raise refuse_graph('deep fusion (fusion.kind = "deep")')
    encoder = Nodes(Graph("encoder"), weights)
    inputs, reads = _read(encoder, trained)
    step, memory = _decoder(encoder, data, inputs)
    add_step(step, memory, data["decoder"], data)
    evaluation: Any = getattr(trained.experiment, "evaluation", None)
    config = {
        "answers": "text",
        "memory": list(memory),
        "state": list(model.decoder.program.carried),
        "bos": model.symbols.bos,
        "search": {"beam": evaluation.beam, "length_penalty": evaluation.length_penalty},
        "tokenizers": {side: tokens_of(trained, tokenizer) for side, tokenizer in trained.tokenizers.items()},
    }
    if isinstance(model, Translator):
        config["copies"] = can_copy(trained.tokenizers["source"], trained.tokenizers["target"])
    return Graphs({"encoder": encoder.graph.model(), "step": step.graph.model()}, config | reads)


def described(trained: TrainedModel) -> tuple[dict[str, Any], Weights]:
    """Return the description of a network, and its weights."""
    tensors = tensors_of(trained.model).items()
    return describe(trained.model), Weights({name: tensor.float().numpy() for name, tensor in tensors})


def _decoder(encoder: Nodes, data: Mapping[str, Any], inputs: dict[str, str]) -> tuple[Nodes, dict[str, str]]:
    """Write an encoder; return the nodes of the step of its decoder, and the signals of its memory."""
    step, memory = Nodes(Graph("step"), encoder.weights), dict[str, str]()
    for name, signal in encoder.write(data["encoder"], inputs).items():
        if name.startswith("state "):
            encoder.graph.output(name, encoder.graph.unsqueeze(signal, 0), (1, None))
            continue
        short = name.removeprefix("memory ")
        shape = ("S", None) if short.startswith("attention.") else (None,)
        encoder.graph.output(short, signal, shape)
        memory[short] = step.graph.input(short, shape)
    return step, memory


def _read(encoder: Nodes, trained: TrainedModel) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the signals that an encoder reads, and what the driver makes its input of.

    ``longest`` bounds what is written: the least of a n + b for n tokens or vectors.
    """
    model, experiment, graph = cast(Any, trained.model), cast(Any, trained.experiment), encoder.graph
    match model:
        case Translator():
            return {"ids": graph.input("ids", ["S"], "INT64")}, {"reads": "text", "longest": [[3, 10], [2, 200]]}
        case VectorTransducer(config=config):
            scale, pen = experiment.scale, int(experiment.scale.pen)
            reads = {"reads": "strokes", "upward": scale.upward} if pen else {"reads": "vectors"}
            values = graph.input("values", ["S", len(config.values.mean) + pen])
            mean, deviation = [*config.values.mean, *[0.0] * pen], [*config.values.deviation, *[1.0] * pen]
            return {"values": encoder.standardize(values, mean, deviation)}, {**reads, "longest": [[1, SHORTEST]]}
        case Describer():
            grid = model.config.encoder
            values = graph.input("values", [grid.rows * grid.columns, grid.width])
            return {"values": values}, {"reads": "grid", "longest": [[0, experiment.data.max_length + 1]]}
    raise refuse_graph(f"a {type(model).__name__}")


_CONTINUED = 40
"""Tokens that a text is continued by, at most."""


def _language_model_graphs(trained: TrainedModel, model: LanguageModel) -> Graphs:
    """Return one graph: a step that reads a token."""
    data, weights = described(trained)
    step, stack = Nodes(Graph("step"), weights), model.recurrence
    add_step(step, {}, data["recurrence"], data)
    config = {
        "answers": "text",
        "reads": "text",
        "memory": [],
        "state": list(stack.program.carried),
        "initial": {name: rows[0].tolist() for name, rows in stack.initial_state(1).items()},
        "bos": model.stepper().bos,
        "longest": [[1, _CONTINUED]],
        "search": {"beam": 1, "length_penalty": 0.0},
        "tokenizers": {"text": tokens_of(trained, trained.tokenizers["text"])},
    }
    return Graphs({"step": step.graph.model()}, config)


def _classifier_graphs(trained: TrainedModel, model: PooledClassifier) -> Graphs:
    """Return one graph: a text or a sequence of vectors in, the probability of each class out."""
    examples = cast(ExamplesData, trained.experiment.data)
    classes, graph = model.config.classes, Graph("classifier")
    reads: dict[str, Any] = {"reads": "vectors"}
    if isinstance(model, VectorClassifier):
        inputs = {"values": graph.input("values", ["S", len(_scaled(model).mean)])}
    else:
        inputs = {"ids": graph.input("ids", ["S"], "INT64")}
        reads = {"reads": "text", "tokenizers": {"text": tokens_of(trained, trained.tokenizers["text"])}}
    data, weights = described(trained)
    scores = Nodes(graph, weights).write(data["graph"], inputs)["scores"]
    probabilities = graph.node("Sigmoid", scores) if classes.several else graph.node("Softmax", scores, axis=-1)
    graph.output("probabilities", probabilities, [len(classes.names)])
    config = {
        "answers": "classes",
        "names": list(classes.names),
        "thresholds": model.thresholds.tolist() if classes.several else None,
        "separator": examples.label_separator,
        "max_length": examples.max_length,
    }
    return Graphs({"classifier": graph.model()}, config | reads)


def _scaled(model: Any) -> VectorsConfig:
    """Return the scale of the vectors that a network reads."""
    config: VectorsConfig = model.config.vectors
    return config


def _tagger_graphs(trained: TrainedModel, model: StepTagger) -> Graphs:
    """Return one graph: words or vectors in, a score for each tag of each out; of a CRF its other scores, too."""
    graph = Graph("tagger")
    reads: dict[str, Any] = {"reads": "vectors"}
    if isinstance(model, VectorTagger):
        inputs = {"values": graph.input("values", ["S", len(_scaled(model).mean)])}
    else:
        assert isinstance(model, Tagger)
        inputs, reads = {"ids": graph.input("ids", ["S"], "INT64")}, _vocabularies(trained, model)
        if model.characters:
            inputs["characters"] = graph.input("characters", ["S", "L"], "INT64")
    data, weights = described(trained)
    names = list(cast(WordTokenizer, trained.tokenizers["tags"]).vocabulary)
    graph.output("scores", Nodes(graph, weights).write(data["graph"], inputs)["scores"], ["S", len(names)])
    for name, one in data["chain"].items():
        scores = with_barred(weights[one["weight"]], one["barred"])
        graph.output(name, graph.weight(one["weight"], scores), list(scores.shape))
    config = {"answers": "tags", "names": names, "output": model.config.output.kind}
    return Graphs({"tagger": graph.model()}, config | reads)


def _vocabularies(trained: TrainedModel, model: Tagger) -> dict[str, Any]:
    words, characters = (cast(WordTokenizer, trained.tokenizers[side]) for side in ("text", "characters"))
    return {
        "reads": "words",
        "pattern": PATTERN,
        "words": list(words.vocabulary),
        "lowercase": words.lowercase,
        "spaces": spaces_of(words),
        "characters": list(characters.vocabulary),
        "max_length": model.characters.config.max_length if model.characters else 0,
    }


def _value_graphs(trained: TrainedModel, model: ValueNetwork) -> Graphs:
    """Return a step that reads a vector, and an encoder where the network writes a text.

    Vectors are scaled: ``config.json`` has the means and deviations. The step gives the parameters of the density of
    the next vector (``kernels.mixture``): ``log_weights`` (N x K), ``means`` and ``log_deviations`` (N x K x D), and of
    pens ``r`` (N x K), whose tanh is the correlation; or without a density ``means`` (N x D); and scores of ``flags``.
    """
    experiment: Any = trained.experiment
    scale, models, tokenizers = experiment.scale, dict[str, Any](), dict[str, Any]()
    memory, initial = dict[str, str](), dict[str, list[float]]()
    data, weights = described(trained)
    if isinstance(model, SynthesisNetwork):
        encoder = Nodes(Graph("encoder"), weights)
        step, memory = _decoder(encoder, data, {"ids": encoder.graph.input("ids", ["S"], "INT64")})
        models["encoder"], tokenizers["text"] = encoder.graph.model(), tokens_of(trained, trained.tokenizers["text"])
        parts, program = step.step(data["decoder"], memory)
    else:
        assert isinstance(model, PredictionNetwork)
        step = Nodes(Graph("step"), weights)
        initial = {name: rows[0].tolist() for name, rows in model.recurrence.initial_state(1).items()}
        parts, program = step.step(data["recurrence"])
    layer = step.parts(data["output"])
    _add_value_step(parts, program, layer, model.output, len(scale.mean_D) + int(scale.pen))
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
    return Graphs({**models, "step": step.graph.model()}, config)


def _add_value_step(parts: Parts, program: Program, layer: Parts, output: ValueOutput, width: int) -> None:
    graph = parts.graph
    signals = step_signals(parts, program, graph.input("values", ["N", width]))
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
        graph.output("r", graph.multiply(graph.constant(LARGEST), within), ["N", shape.components])  # 3


def spaces_of(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """Return the substitutes for white space and invisible characters: patterns and texts."""
    return [(pattern.pattern, put) for pattern, put in tokenizer.rule.substitutions] if tokenizer.rule else []


def tokens_of(trained: TrainedModel, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return a tokenizer of a run; ConfigError for one that the driver does not have."""
    kind, segmentation = trained.experiment.text.tokenizer, getattr(trained.experiment.text, "segmentation", "")
    table: dict[str, Any] = {"kind": kind, "lowercase": tokenizer.lowercase, "spaces": spaces_of(tokenizer)}
    if isinstance(tokenizer, SymbolTokenizer):
        return table | {"kind": "symbol", "separated": tokenizer.separated, "pieces": [*MARKS, *tokenizer.alphabet]}
    if isinstance(tokenizer, CharacterTokenizer):
        return table | {"pieces": [*MARKS, *tokenizer.alphabet]}
    if isinstance(tokenizer, WordTokenizer) and segmentation in ("whitespace", "joiner"):
        tokens, pieces = tokenizer.tokens, [*MARKS, *tokenizer.vocabulary]
        if isinstance(tokens, JoinerTokens):
            patterns = {"tokens": f"(?s){tokens.pattern.pattern}", "word": WORD.pattern, "opening": OPENING.pattern}
            table |= {"kind": "joiner", "patterns": patterns}
        return table | {"pieces": pieces}
    if kind == "bpe":
        return table | {"pieces": tokenizer.pieces(range(tokenizer.symbols.size))}
    raise ConfigError(
        f'The driver of an exported model has tokenizers "bpe", "character", "symbol" and "word" with segmentation '
        f'"joiner" or "whitespace", but this run has text.tokenizer = "{kind}"'
        f"{f' with segmentation {segmentation}' if segmentation else ''}: train a run with one of those."
    )


def step_signals(parts: Parts, program: Program, x: str) -> dict[str, str]:
    """Return all signals of a step of N rows that reads ``x``; what it carries comes in and goes out, by name."""
    graph = parts.graph
    state = {previous(name): graph.input(f"state {name}", ["N", None]) for name in program.carried}
    signals = parts.step(program, {"x": x, **state})
    for name in program.carried:
        graph.output(f"next {name}", signals[name], ["N", None])
    return signals


def add_step(step: Nodes, memory: dict[str, str], data: Mapping[str, Any], layers: Mapping[str, Any]) -> None:
    """From ids and the state to log-probabilities, weights and the next state.

    ``data`` is the step, ``layers`` has the embedding before it and the output behind it. Raises ConfigError for what
    has no operators.
    """
    graph = step.graph
    x = step.write(layers["embedding"], {"ids": graph.input("ids", ["N"], "INT64")})["x"]
    parts, program = step.step(data, memory)
    signals = step_signals(parts, program, x)
    graph.output("log_probs", _log_probs(step, layers["output"], signals[program.returns[0]]), ["N", "V"])
    if "weights" in program.returns:
        graph.output("weights", signals["weights"], ["N", "S"])


def _log_probs(step: Nodes, data: Mapping[str, Any], states: str) -> str:
    if data["kind"] != "softmax":
        raise refuse_graph(f'output.kind = "{data["kind"]}"')
    graph, output = step.graph, SoftmaxOutput(step.weights, data)
    logits = graph.node("MatMul", states, graph.weight("output.weight", output.weight_VH, transposed=True))
    if output.bias_V.size:
        logits = graph.add([logits, graph.weight("output.bias", output.bias_V)])
    return graph.node("LogSoftmax", logits, axis=-1)
