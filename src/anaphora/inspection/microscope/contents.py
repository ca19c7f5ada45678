"""A trained network as data: its programs part by part, its tensors by name, and its tokenizers.

The parts are those that training runs (``kernels/parts.py``). A part, option or network that the page does not compute
is refused by name, so a page never shows anything but the model.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.kernels.attention import Attend
from anaphora.kernels.cells import Cell, Elman, Gru, Lstm
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.normalizers import Softmax
from anaphora.kernels.parts import Activate, Add, Maxout, Part, Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scores import Concat, Dot, General
from anaphora.kernels.spans import Global
from anaphora.models.language_model import LanguageModel
from anaphora.models.translator import Translator
from anaphora.nn.embedding import Embedding
from anaphora.nn.encoders.recurrent import RecurrentEncoder
from anaphora.nn.outputs.full import FullOutput
from anaphora.nn.stack import Stack
from anaphora.tasks.task import TrainedModel
from anaphora.text.tokenizer import Tokenizer

Table = dict[str, Any]


@dataclass
class _Lowering:
    """One network on its way into data."""

    tensors: dict[str, Tensor]
    used: dict[str, Tensor] = field(default_factory=dict)

    def weight(self, tensor: Tensor) -> str:
        """Return the name of a weight, which the page will have; of a tied one, its first."""
        name = next(name for name, own in self.tensors.items() if own is tensor)
        self.used[name] = tensor
        return name

    def program(self, program: Program, weights: Mapping[str, Tensor]) -> Table:
        """Return a program: parts in order, what a step returns and carries, and weights by the names in its parts."""
        for part in program.parts:
            if isinstance(part, Attend):  # named before what it needs beside it
                _attention(part)
        return {
            "parts": [part_of(part) for part in program.parts],
            "returns": program.returns,
            "carried": program.carried,
            "weights": {name: self.weight(tensor) for name, tensor in weights.items()},
        }

    def stack(self, stack: Stack) -> Table:
        """Return the program of a stack, with its learned initial state, if it has one."""
        initial = {name: self.weight(tensor) for name, tensor in stack.initial.tensors().items()}
        return {**self.program(stack.program, stack.weights.tensors()), "initial": initial}

    def embedding(self, embedding: Any) -> Table:
        """Return a table of word vectors."""
        if not isinstance(embedding, Embedding):
            raise _refusal('word vectors of characters (embedding.kind = "character-cnn")')
        return {"weight": self.weight(embedding.weight), "scale": embedding.scale}

    def output(self, output: Any) -> Table:
        """Return a softmax over the vocabulary."""
        if not isinstance(output, FullOutput):
            raise _refusal(f"the output layer {type(output).__name__}")
        return {"weight": self.weight(output.weight), "bias": self.weight(output.bias) if len(output.bias) else None}


def contents(trained: TrainedModel) -> tuple[Table, Mapping[str, Tensor]]:
    """Return a trained translator or language model as JSON, and the weights that it names, as a checkpoint has them.

    Raises ConfigError, naming the option, for a model that the page does not compute.
    """
    model: Any = trained.model
    makers: dict[type, Callable[[Any, _Lowering], Table]] = {Translator: _translator, LanguageModel: _language_model}
    if type(model) not in makers:
        raise _refusal(f"a {type(model).__name__}")
    lowering = _Lowering(dict(model.named_parameters()))
    network = makers[type(model)](model, lowering)
    kind = trained.experiment.text.tokenizer
    network["tokenizers"] = {side: tokens_of(tokenizer, kind) for side, tokenizer in trained.tokenizers.items()}
    return network, lowering.used


def _translator(model: Any, lowering: _Lowering) -> Table:
    config, encoder, decoder = model.config, model.encoder, model.decoder
    if not isinstance(encoder, RecurrentEncoder):
        raise _refusal(f'encoder.kind = "{config.encoder.kind}"')
    if model.language_model:
        raise _refusal('deep fusion (fusion.kind = "deep")')
    if decoder.attention is None and config.decoder.sentence_encoding != "initial-state":
        raise _refusal('decoder.sentence_encoding = "every-step"')
    weights = decoder.weights.tensors()
    used = dict(weights)
    bridge = {name: lowering.weight(used.pop(name)) for name in decoder.bridge.matrices()}
    return {
        "kind": "translator",
        "embeddings": {
            "source": lowering.embedding(model.source_embedding),
            "target": lowering.embedding(model.target_embedding),
        },
        "encoder": {
            "reversed": config.encoder.reversed,
            "residual": config.encoder.residual,
            "encodes": config.encoder.sentence_encoding_from,
            "layers": [
                {way: lowering.stack(encoder.stack(layer, way)) for way in encoder.directions}
                for layer in range(config.encoder.layers)
            ],
        },
        "bridge": {
            "kind": config.decoder.initial_state,
            "tanh": config.decoder.initial_state_activation == "tanh",
            "layer": config.decoder.sentence_encoding_layer == "tanh",
            "layers": config.decoder.layers,
            "fields": config.decoder.cell.state,
            "weights": bridge,
        },
        "decoder": lowering.program(decoder.program, used),
        "widths": {
            "fed": weights["feed.weight"].shape[1] if "feed.weight" in weights else 0,
            "state": config.decoder.size,
        },
        "output": lowering.output(model.output),
    }


def _language_model(model: Any, lowering: _Lowering) -> Table:
    stack = model.recurrence
    return {
        "kind": "language-model",
        "embeddings": {"text": lowering.embedding(model.embedding)},
        "decoder": lowering.stack(stack),
        "widths": {"fed": 0, "state": stack.config.size},
        "output": lowering.output(model.output),
        "sentences": model.config.reads == "sentences",
    }


def part_of(part: Part) -> Table:
    """Return one part as JSON: kind, what it reads and writes, options. Raises ConfigError as ``contents``."""
    match part:
        case Project():
            options: Table = {"kind": "project", "bias": part.bias}
        case Unit() if not part.conditioned:
            options = {"kind": "unit", "cell": _cell(part.cell), "inputs": len(part.inputs), "norm": part.normalised}
        case Attend():
            options = {"kind": "attend", **_attention(part)}
        case Activate():
            options = {"kind": "tanh"}
        case Add():
            options = {"kind": "add"}
        case Maxout():
            options = {"kind": "maxout"}
        case Normalise():
            options = {"kind": "normalise", "bias": part.bias}
        case _:
            raise _refusal(f"the step part '{part.name}' ({type(part).__name__})")
    return {"name": part.name, "reads": part.reads, "writes": part.writes, **options}


def _cell(cell: Cell) -> Table:
    if not isinstance(cell, Lstm | Gru | Elman) or type(cell) not in (Lstm, Gru, Elman):
        raise _refusal(f'the cell "{cell.kind}"')
    return asdict(cell)


def _attention(part: Attend) -> Table:
    """Return the score, with one factor for its scale and for the sharpness of the softmax."""
    score, span, normalizer = part.score, part.span, part.normalizer
    if not isinstance(score, Dot | General | Concat):
        raise _refusal(f"the attention score {type(score).__name__}")
    if not isinstance(span, Global):
        raise _refusal(f"the attention window {type(span).__name__}")
    if not isinstance(normalizer, Softmax):
        raise _refusal(f"the attention normalizer {type(normalizer).__name__}")
    return {"score": score.kind, "scale": part.scale * normalizer.sharpness}


def tokens_of(tokenizer: Tokenizer, kind: str) -> Table:
    """Return a tokenizer of a ``kind`` as JSON. Raises ConfigError for all but byte-pair subwords and characters."""
    if kind not in ("bpe", "character"):
        raise _refusal(f'text.tokenizer = "{kind}" (only "bpe" and "character")')
    table: Table = {"kind": kind, "pieces": tokenizer.pieces(range(tokenizer.symbols.size))}
    if kind == "character":
        table["alphabet"] = json.loads(tokenizer.serialise())["characters"]
    return {**table, "lowercase": tokenizer.lowercase}


def _refusal(what: str) -> ConfigError:
    return ConfigError(
        f"The microscope shows translators and language models with vanilla, LSTM and GRU cells and attention scores "
        f'"dot", "general" and "concat", but not {what}: use another verb of anaphora inspect for this run.'
    )
