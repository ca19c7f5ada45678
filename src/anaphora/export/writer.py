"""Translators, transducers and describers as two graphs: an encoder of the input, and a step that writes a token."""

from typing import Any

from anaphora.export.bridge import Start
from anaphora.export.encoder import encoded
from anaphora.export.graph import Graph, Graphs
from anaphora.export.inputs import embedded, scaled
from anaphora.export.parts import Parts
from anaphora.export.refusal import unsupported
from anaphora.export.step import add_step
from anaphora.export.tokens import tokens_of
from anaphora.models.describer import Describer
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.translator import Translator
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.tasks.task import Trained
from anaphora.tasks.transduce.vectors import SHORTEST
from anaphora.text.symbols import can_copy


def graphs_of(trained: Trained) -> Graphs:
    """The graphs of a translator, describer or transducer. Raises ConfigError for what has no operators."""
    model, graph, step = trained.model, Graph("encoder"), Graph("step")
    assert isinstance(model, EncoderDecoder)
    if model.language_model:
        raise unsupported('deep fusion (fusion.kind = "deep")')
    x, reads = _read(graph, trained)
    decoder = model.decoder
    memory = Start(graph, decoder, model.attention, model.encoder.width).given_out(encoded(graph, model.encoder, x))
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


def _read(graph: Graph, trained: Trained) -> tuple[str, dict[str, Any]]:
    """The vectors that the encoder reads, and what the driver makes its input of.

    ``longest`` bounds what is written: the least of a n + b for n tokens or vectors.
    """
    model: Any = trained.model
    experiment: Any = trained.experiment
    match model:
        case Translator():
            ids = graph.input("ids", ["S"], integers=True)
            found = embedded(graph, "source_embedding", model.source_embedding, ids)
            return found, {"reads": "text", "longest": [[3, 10], [2, 200]]}
        case VectorTransducer():
            scale = experiment.scale
            reads = {"reads": "strokes", "upward": scale.upward} if scale.pen else {"reads": "vectors"}
            return scaled(graph, model.config.values, int(scale.pen)), {**reads, "longest": [[1, SHORTEST]]}
        case Describer():
            encoder = model.config.encoder
            x = graph.input("values", [encoder.rows * encoder.columns, encoder.width])
            return x, {"reads": "grid", "longest": [[0, experiment.data.max_length + 1]]}
    raise unsupported(f"a {type(model).__name__}")
