"""Trained networks as graphs, with the configuration and the tokenizers that the driver reads."""

from math import log
from typing import Any, cast

from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.export.encoder import EncodedNodes, Start, embed, encode, scale_values, spelt
from anaphora.export.graph import Graph, Graphs, refuse_graph
from anaphora.export.parts import Parts
from anaphora.formats.tagged import PATTERN
from anaphora.kernels.mixture import LARGEST, MixtureShape
from anaphora.kernels.parts import previous
from anaphora.kernels.program import Program
from anaphora.models.classifier import Classifier, PooledClassifier, VectorClassifier, VectorClassifierConfig
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.language_model import LanguageModel
from anaphora.models.tagger import StepTagger, Tagger, VectorTagger
from anaphora.models.translator import Translator
from anaphora.models.values import PredictionNetwork, SynthesisNetwork, ValueNetwork
from anaphora.models.writers import Describer, VectorTransducer
from anaphora.nn.outputs.output import SoftmaxOutput
from anaphora.nn.outputs.tags import LinearChainTags
from anaphora.nn.outputs.values import MixtureOutput, ValueOutput
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
    graph, step = Graph("encoder"), Graph("step")
    if model.language_model:
        raise refuse_graph('deep fusion (fusion.kind = "deep")')
    x, reads = _read(graph, trained)
    decoder = model.decoder
    memory = Start(graph, decoder, model.attention, model.encoder.width).export_memory(encode(graph, model.encoder, x))
    inputs = {name: step.input(name, signal.shape) for name, signal in memory.items()}
    parts = Parts(step, "decoder.weights.", decoder.weights.tensors(), inputs)
    add_step(parts, decoder.program, ("target_embedding", model.written), model.output)
    evaluation: Any = getattr(trained.experiment, "evaluation", None)
    config = {
        "answers": "text",
        "memory": list(memory),
        "state": list(decoder.program.carried),
        "bos": model.symbols.bos,
        "search": {"beam": evaluation.beam, "length_penalty": evaluation.length_penalty},
        "tokenizers": {side: tokens_of(trained, tokenizer) for side, tokenizer in trained.tokenizers.items()},
    }
    if isinstance(model, Translator):
        config["copies"] = can_copy(trained.tokenizers["source"], trained.tokenizers["target"])
    return Graphs({"encoder": graph.model(), "step": step.model()}, config | reads)


def _read(graph: Graph, trained: TrainedModel) -> tuple[str, dict[str, Any]]:
    """Return the vectors that the encoder reads, and what the driver makes its input of.

    ``longest`` bounds what is written: the least of a n + b for n tokens or vectors.
    """
    model: Any = trained.model
    experiment: Any = trained.experiment
    match model:
        case Translator():
            ids = graph.input("ids", ["S"], "INT64")
            found = embed(graph, "source_embedding", model.source_embedding, ids)
            return found, {"reads": "text", "longest": [[3, 10], [2, 200]]}
        case VectorTransducer():
            scale = experiment.scale
            reads = {"reads": "strokes", "upward": scale.upward} if scale.pen else {"reads": "vectors"}
            return scale_values(graph, model.config.values, int(scale.pen)), {**reads, "longest": [[1, SHORTEST]]}
        case Describer():
            encoder = model.config.encoder
            x = graph.input("values", [encoder.rows * encoder.columns, encoder.width])
            return x, {"reads": "grid", "longest": [[0, experiment.data.max_length + 1]]}
    raise refuse_graph(f"a {type(model).__name__}")


_CONTINUED = 40
"""Tokens that a text is continued by, at most."""


def _language_model_graphs(trained: TrainedModel, model: LanguageModel) -> Graphs:
    """Return one graph: a step that reads a token."""
    step = Graph("step")
    stack = model.recurrence
    parts = Parts(step, "recurrence.weights.", stack.weights.tensors())
    add_step(parts, stack.program, ("embedding", model.embedding), model.output)
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
    return Graphs({"step": step.model()}, config)


def _classifier_graphs(trained: TrainedModel, model: PooledClassifier) -> Graphs:
    """Return one graph: a text or a sequence of vectors in, the probability of each class out."""
    data = cast(ExamplesData, trained.experiment.data)
    classes, graph = model.config.classes, Graph("classifier")
    reads: dict[str, Any] = {"reads": "vectors"}
    if isinstance(model, VectorClassifier):
        x = scale_values(graph, cast(VectorClassifierConfig, model.config).vectors)
    else:
        assert isinstance(model, Classifier)
        x = embed(graph, "embedding", model.embedding, graph.input("ids", ["S"], "INT64"))
        reads = {"reads": "text", "tokenizers": {"text": tokens_of(trained, trained.tokenizers["text"])}}
    pooled = _pool(graph, model, encode(graph, model.encoder, x))
    scores = Parts(graph, "weights.", model.weights.tensors()).project("output", pooled, bias=True)
    probabilities = graph.node("Sigmoid", scores) if classes.several else graph.node("Softmax", scores, axis=-1)
    graph.output("probabilities", probabilities, [len(classes.names)])
    config = {
        "answers": "classes",
        "names": list(classes.names),
        "thresholds": model.thresholds.tolist() if classes.several else None,
        "separator": data.label_separator,
        "max_length": data.max_length,
    }
    return Graphs({"classifier": graph.model()}, config | reads)


def _pool(graph: Graph, model: PooledClassifier, found: EncodedNodes) -> str:
    match model.config.classes.pooling:
        case "last":
            return found.summaries[-1]["h"]
        case "mean":
            return graph.mean(found.annotations)
        case "max":
            return graph.node("ReduceMax", found.annotations, graph.constant([0]), keepdims=0)
        case "attention":
            parts = Parts(graph, "weights.", model.weights.tensors())
            u = graph.node("Tanh", parts.project("pool", found.annotations, bias=True))
            weights = graph.node("Softmax", parts.matmul("pool.query", u), axis=0)
            weighted = graph.multiply(weights, found.annotations)
            return graph.node("ReduceSum", weighted, graph.constant([0]), keepdims=0)


def _tagger_graphs(trained: TrainedModel, model: StepTagger) -> Graphs:
    """Return one graph: words or vectors in, a score for each tag of each out; of a CRF its other scores, too."""
    graph = Graph("tagger")
    reads: dict[str, Any] = {"reads": "vectors"}
    if isinstance(model, VectorTagger):
        x = scale_values(graph, model.config.vectors)
    else:
        assert isinstance(model, Tagger)
        x, reads = _words(graph, model), _vocabularies(trained, model)
    annotations = encode(graph, model.encoder, x).annotations
    tags = Parts(graph, "output.weights.", model.output.weights.tensors())
    names = list(cast(WordTokenizer, trained.tokenizers["tags"]).vocabulary)
    graph.output("scores", tags.project("tags", annotations, bias=True), ["S", len(names)])
    if isinstance(model.output, LinearChainTags):
        for name, scores in zip(("transitions", "first", "last"), model.output.chain(), strict=True):
            graph.output(name, graph.weight(f"output.weights.chain.{name}", scores), list(scores.shape))
    config = {"answers": "tags", "names": names, "output": model.config.output.kind}
    return Graphs({"tagger": graph.model()}, config | reads)


def _words(graph: Graph, model: Tagger) -> str:
    x = embed(graph, "embedding", model.embedding, graph.input("ids", ["S"], "INT64"))
    return x if model.characters is None else graph.join([x, spelt(graph, model.characters)])


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
    step = Graph("step")
    experiment: Any = trained.experiment
    scale, models, tokenizers = experiment.scale, dict[str, Any](), dict[str, Any]()
    memory: dict[str, str] = {}
    initial: dict[str, list[float]] = {}
    if isinstance(model, SynthesisNetwork):
        graph, decoder = Graph("encoder"), model.decoder
        x = embed(graph, "embedding", model.embedding, graph.input("ids", ["S"], "INT64"))
        start = Start(graph, decoder, model.config.attention, model.encoder.width)
        shared = start.export_memory(encode(graph, model.encoder, x))
        models["encoder"], tokenizers["text"] = graph.model(), tokens_of(trained, trained.tokenizers["text"])
        memory = {name: step.input(name, signal.shape) for name, signal in shared.items()}
        program, parts = decoder.program, Parts(step, "decoder.weights.", decoder.weights.tensors(), memory)
    else:
        assert isinstance(model, PredictionNetwork)
        stack = model.recurrence
        initial = {name: rows[0].tolist() for name, rows in stack.initial_state(1).items()}
        program, parts = stack.program, Parts(step, "recurrence.weights.", stack.weights.tensors())
    _add_value_step(parts, program, model.output, len(scale.mean_D) + int(scale.pen))
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


def _add_value_step(parts: Parts, program: Program, output: ValueOutput, width: int) -> None:
    graph = parts.graph
    signals = step_signals(parts, program, graph.input("values", ["N", width]))
    layer = Parts(graph, "output.weights.", output.weights.tensors())
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


def add_step(parts: Parts, program: Program, embedding: tuple[str, Any], output: Any) -> None:
    """From ids and the state to log-probabilities, weights and the next state.

    Raises ConfigError for what has no operators.
    """
    graph = parts.graph
    signals = step_signals(parts, program, embed(graph, *embedding, graph.input("ids", ["N"], "INT64")))
    graph.output("log_probs", _log_probs(graph, output, signals[program.returns[0]]), ["N", "V"])
    if "weights" in program.returns:
        graph.output("weights", signals["weights"], ["N", "S"])


def _log_probs(graph: Graph, output: Any, states: str) -> str:
    if not isinstance(output, SoftmaxOutput):
        raise refuse_graph(f"the output layer {type(output).__name__}")
    weight: Tensor = output.weight
    logits = graph.node("MatMul", states, graph.weight("output.weight", weight, transposed=True))
    if output.used_bias.numel():
        logits = graph.add([logits, graph.weight("output.bias", output.used_bias)])
    return graph.node("LogSoftmax", logits, axis=-1)
