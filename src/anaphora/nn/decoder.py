"""The decoder in the topologies of the papers, as a program of step parts.

    query "current", context "output"   the unit first, then attention with its new state, then both are combined
                                        (Luong, Pham and Manning 2015)
    query "previous", context "state"   attention with the state before, and the context enters the unit
                                        (Bahdanau, Cho and Bengio 2015)
    query "current", context "state"    the bottom layer's step in two transitions: the state between them is the query,
                                        and the context enters the second (the conditional GRU, Sennrich et al. 2017)

    attention "none"                       no context, or the summary of the sentence as the context of every step: it
                                           enters the unit and the readout (Sutskever et al. 2014; Cho et al. 2014);
                                           or a column of it for each step (Kalchbrenner and Blunsom 2013)

What the output layer sees is o_t (``readout.py``), and h_t of a lexical model beside it (``kernels/lexical.py``). The
bridge (``bridge.py``) gives what the decoder starts from and, without attention, all that it knows of the sentence.
With input feeding, o_{t-1} enters the bottom layer beside the embedding (o_0 = 0), or the context of the step before
does (c_0 = 0): the step of Chorowski et al. (2015), whose state has seen the word before when it asks, is query
"current" and context "output" with the context fed.

With residual connections, h_t of the current step is the sum that leaves the top layer; the state before, which is
the query of the second topology, is that of the top layer's unit itself.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from anaphora.kernels.alignments import POSITIONS
from anaphora.kernels.description import describe
from anaphora.kernels.lexical import Lexical
from anaphora.kernels.parts import Add, Clock, Constant, Part, Project, previous
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance, scan
from anaphora.kernels.word_tables import Words, read_words, read_words_of_step
from anaphora.nn.attention import AnyAttention, LatentAttention, attention_of
from anaphora.nn.bridge import Bridge, BridgeConfig
from anaphora.nn.encoders.encoder import EncoderOutput, EncoderSpec
from anaphora.nn.fusion import AnyFusion
from anaphora.nn.operations import TensorOperations
from anaphora.nn.randomness import apply_dropout
from anaphora.nn.readout import Context, Readout, ReadoutConfig, context_projection
from anaphora.nn.scheduled_sampling import AnySampling, NoSampling
from anaphora.nn.stack import BetweenTransitions, Layers
from anaphora.nn.weights import Matrix, Start, Weights, projection_matrices
from anaphora.options import SET, Conflict, other_than
from anaphora.protocols import PartDescription

CONFLICTS = (
    Conflict(
        {"decoder.input_feeding_from": "context", "attention.kind": "none"},
        'there is no context: set decoder.input_feeding_from = "readout"',
    ),
    Conflict(
        {"attention.kind": "none", "decoder.initial_state": "zero", "decoder.sentence_encoding": "initial-state"},
        'the decoder sees nothing of the source: set decoder.initial_state = "project", or '
        'decoder.sentence_encoding = "every-step"',
    ),
    Conflict(
        {"decoder.sentence_encoding": "every-step", "attention.kind": other_than("none")},
        'the context takes its place: set attention = "none", or decoder.sentence_encoding = "initial-state"',
    ),
    Conflict(
        {"decoder.readout_layer": "none", "attention.context": "output"},
        'nothing reads the context: set decoder.readout_layer = "tanh", or attention.context = "state"',
    ),
    Conflict(
        {"output.lexical": True, "attention.kind": ("none", "gaussian-window")},
        'it weighs source words by attention; set attention.kind = "soft", or output.lexical = false',
    ),
    Conflict(
        {"fusion.kind": "deep", "decoder.readout_layer": "none"},
        'train the translator with decoder.readout_layer = "tanh", or fuse in search alone',
    ),
    *(
        Conflict({option: value, "attention.kind": "hard-monotonic"}, f"{reason}; set {remedy}")
        for option, value, reason, remedy in (
            ("decoder.input_feeding", True, "nothing but words may enter its state", "decoder.input_feeding = false"),
            ("decoder.readout_layer", other_than("tanh"), "it reads out by tanh", 'decoder.readout_layer = "tanh"'),
            ("decoder.scheduled_sampling.kind", other_than("none"), "it has no soft weights", 'it to "none"'),
            ("output.kind", other_than("full"), "every position has its softmax", 'output.kind = "full"'),
            ("output.label_smoothing", SET, "its loss is of all alignments", "output.label_smoothing = 0"),
            ("output.lexical", True, "it has no soft weights", "output.lexical = false"),
            ("output.fixed_norm", SET, "it reads out each position as it is", "output.fixed_norm = 0"),
            ("fusion.kind", other_than("none"), "it takes no language model", 'fusion.kind = "none"'),
        )
    ),
)
"""Conflicts between decoder, attention and fusion, by the keys of a translator."""


class DecoderConfig(ReadoutConfig, BridgeConfig):
    """A recurrent decoder."""

    input_feeding: bool = True
    """True if the bottom layer sees what the step before found out (Luong et al. 2015, section 3.3)."""
    input_feeding_from: Literal["readout", "context"] = "readout"
    """Vector of input feeding: o_{t-1}, or c_{t-1} alone (Chorowski et al. 2015, section 2.1)."""
    scheduled_sampling: AnySampling = NoSampling()
    """Schedule by which training replaces true words by predicted ones (Bengio et al. 2015)."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"sentence_encoding_place": "recurrent", "cell": lambda cell: getattr(cell, "reset", "") != "after"},
            'set decoder.cell = {{kind = "gru", reset = "after"}}, or decoder.sentence_encoding_place = "input"',
        ),
        Conflict(
            {"input_feeding_from": SET, "input_feeding": False},
            "it says what input feeding feeds; leave it out, or set decoder.input_feeding = true",
            written=True,
        ),
    )


class Decoder(nn.Module):
    """Recurrent layers, what they see of the source, and the combination of both."""

    def __init__(
        self,
        config: DecoderConfig,
        attention: AnyAttention,
        width: int,
        spec: EncoderSpec,
        fusion: AnyFusion,
        copies: bool = False,
    ) -> None:
        """``width`` of the embeddings; ``spec``: what the encoder gives; ``copies``: whether the output copies words.

        Raises ConfigError where the options do not go together.
        """
        super().__init__()
        self.config, self.spec, self._copies = config, spec, copies
        self.attention = attention_of(attention, config.size, spec)
        self.alignments = self.attention.alignments if isinstance(self.attention, LatentAttention) else None
        self.bridge = Bridge(config, spec)
        self._top_unit = f"layer{config.layers - 1}.h"
        self._o = "readout" if spec.words else "o"
        """The signal o_t; what is returned as "o" has h_t of a lexical model beside it."""
        self._fed = "context" if config.input_feeding_from == "context" else self._o
        """The signal whose last value input feeding feeds."""
        self._readout = Readout(config, self._context, fusion)
        self._context_enters = (
            self.attention.config.context == "state" if self.attention else config.sentence_encoding == "every-step"
        )
        two_transitions = self.attention is not None and self.attention.config.two_transitions
        self._context_projection = Project("context", "context", "attended", two_transitions and config.input_bias)
        between = (
            BetweenTransitions(self.attention.parts("ask.h"), self._context_projection)
            if self.attention and two_transitions
            else None
        )
        self._layers = Layers(config, between, self.bridge.beside_state)
        context = spec.width if self.attention else self.bridge.width
        self._read_out = self._readout.matrices(width, context) | (
            {"lexical.layer": Matrix(spec.words, spec.words)} if spec.words else {}
        )
        self.weights = Weights(self._matrices(width, context) | self._read_out)
        self.program, self._training = self._program(training=False), self._program(training=True)

    @property
    def _context(self) -> Context:
        if self.alignments:
            return "positions"
        if self.attention:
            return "step"
        if self.config.sentence_encoding == "initial-state":
            return "none"
        return "column" if self.bridge.columns else "sentence"

    @property
    def readout_weights(self) -> list[Tensor]:
        """Return the weights that make o_t of its terms."""
        return [weight for name, weight in self.weights.tensors().items() if name in self._read_out]

    def _matrices(self, width: int, context: int) -> dict[str, Matrix]:
        config = self.config
        rows, gates = config.cell.gates * config.size, config.cell.gates
        matrices = self._layers.matrices(width) | self.bridge.matrices()
        if config.input_feeding:
            fed = context if config.input_feeding_from == "context" else config.readout_width
            matrices |= projection_matrices("feed", rows, fed, False, gates)
        if self._context_enters:
            matrices |= projection_matrices("context", rows, context, self._context_projection.bias, gates)
        if self.spec.features:
            matrices |= projection_matrices("features", rows, self.spec.features, False, gates)
        if self._copies:
            matrices |= projection_matrices("copy_context", 1, context, True)
            matrices |= projection_matrices("copy_state", 1, config.size, False)
            matrices |= projection_matrices("copy_word", 1, width, False)
        return matrices | (self.attention.matrices() if self.attention else {})

    def _program(self, training: bool) -> Program:
        """Return one step; ``training`` with dropout between the layers and on o_t."""
        config = self.config
        before, beside = self._before_layers()
        layers, top = self._layers.parts(beside, training, masked=config.layers - 1)
        after: list[Part] = [*self.attention.parts(top)] if self.attention and not self._context_enters else []
        dropped = training and config.dropout.probability > 0 and not self.alignments
        after += self._readout.parts(top, self._top_unit, "combined" if dropped else self._o)
        if dropped:
            after.append(config.dropout.part("dropout", "combined", self._o))
        if self.spec.words:
            after.append(Lexical("lexical", self._o, "o"))
        if self._copies:  # the score of generating a word (See et al. 2017, equation 8)
            terms = {"context": "context", "state": top, "word": "x"}
            after += [
                Project(f"copy_{name}", read, f"of_copy_{name}", name == "context") for name, read in terms.items()
            ]
            after.append(Add("copy", tuple(f"of_copy_{name}" for name in terms), "generates"))
        outputs = ("o", "scores", "jumps") if self.alignments else ("o", "weights", "generates")
        parts = (*before, *layers, *after)
        written = {signal for part in parts for signal in part.writes}
        return Program(parts, tuple(name for name in outputs if name in written))

    def _before_layers(self) -> tuple[list[Part], tuple[str, ...]]:
        """Return the parts before the layers, and the signals that enter the bottom layer."""
        parts: list[Part] = [Clock()] if self.bridge.columns else []
        beside: list[str] = []
        if self.config.input_feeding:
            parts.append(Project("feed", previous(self._fed), "fed", False))
            beside.append("fed")
        if self._context_enters and not self._layers.between and not self.bridge.beside_state:
            if self.attention:
                parts += [*self.attention.parts(previous(self._top_unit)), self._context_projection]
            else:
                parts.append(context_projection(self._context, "context", self._context_projection.target))
            beside.append(self._context_projection.target)
        if self.spec.features:
            parts.append(Constant("features", "x", "of_features"))
            beside.append("of_features")
        return parts, tuple(beside)

    def prepare(self, encoded: EncoderOutput, lengths_B: Tensor) -> dict[str, Tensor]:
        """Return the memory of a batch: what does not depend on the step."""
        weights, ops = self.weights.tensors(), TensorOperations(lengths_B)
        features = self.project_features(ops, encoded.features_BD)
        if self.attention:
            memory = features | self.attention.prepare(encoded.annotations_BSM, lengths_B, weights)
            memory |= self.add_words(memory, encoded.words_BSD) if self.spec.words else {}
            return memory | (self.project_positions(ops, encoded.annotations_BSM) if self.alignments else {})
        held = "columns" if self.bridge.columns else "vector"
        summary = self.bridge.summaries(ops, encoded.summaries, weights)[-1]["h"]
        return features | {f"summary.{held}": summary} | self.project_summary(ops, summary)

    def project_features(self, ops: Any, features: Any) -> dict[str, Any]:
        """Return the memory of features; ``ops`` as for ``Bridge.initial_state``."""
        weights = self.weights.tensors()
        return {"features.vector": ops.project(weights, "features", features)} if self.spec.features else {}

    def add_words(self, memory: dict[str, Any], words: Any) -> dict[str, Any]:
        """Return the memory of attention with the word vectors of a lexical model, in the order of the sentence."""
        positions = {f"lexical.{name}": memory[f"attention.{name}"] for name in ("closed", "length")}
        return memory | {"lexical.values": words} | positions

    def project_positions(self, ops: Any, annotations: Any) -> dict[str, Any]:
        """Return the memory of a readout of each position; ``ops`` as for ``Bridge.initial_state``."""
        return {POSITIONS: ops.project(self.weights.tensors(), "combine_context", annotations)}

    def project_summary(self, ops: Any, summary: Any) -> dict[str, Any]:
        """Return the memory of steps that see the summary of a sentence; ``ops`` as for ``Bridge.initial_state``."""
        weights, held = self.weights.tensors(), "columns" if self.bridge.columns else "vector"
        names = {"context": "layer0.condition" if self.bridge.beside_state else f"context.{held}"}
        names["combine_context"] = f"combine_context.{held}"
        return {
            name: ops.project(weights, part, summary) for part, name in names.items() if f"{part}.weight" in weights
        }

    def initial_state(self, encoded: EncoderOutput, lengths_B: Tensor) -> dict[str, Tensor]:
        """Return the state before the first word, B x width by carried signal."""
        ops = TensorOperations(lengths_B)
        summaries = self.bridge.summaries(ops, encoded.summaries, self.weights.tensors())
        return self.start(ops, encoded.annotations_BSM, summaries)

    def start(self, ops: Any, annotations: Any, summaries: Any) -> dict[str, Any]:
        """Return the same from what ``Bridge.summaries`` returned; ``ops`` as there."""
        weights = self.weights.tensors()
        state = self.bridge.initial_state(ops, annotations, summaries, weights)
        if self.bridge.columns:
            state["clock"] = ops.add("zeros", annotations, width=1)
        if self.config.input_feeding:
            state[self._fed] = ops.add("zeros", annotations, width=weights["feed.weight"].shape[1])
        return state | (self.attention.initial_state(ops, annotations) if self.attention else {})

    def forward(
        self,
        x_TBD: Tensor | Words,
        lengths_B: Tensor,
        first: Mapping[str, Tensor],
        memory: Mapping[str, Tensor],
        language_TBL: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Return what the program returns for whole sentences, T x B x width by signal: o, and perhaps ``weights``.

        ``language_TBL`` are the states of the language model that it is fused with.
        """
        config = self.config
        program, weights, x_TBW = read_words(self.program, self.weights.tensors(), x_TBD)
        inputs = _read(x_TBW, language_TBL)
        if self.training:
            program, weights = self._training, self.weights.with_dropout("decoder", config.weight_dropout)
            widths = {f"dropout{n}": config.size for n in range(config.layers - 1)}
            widths |= {} if self.alignments else {"dropout": config.readout_width}
            masks = config.dropout.draw("decoder", widths, self._layers.units, x_TBW)
            inputs, memory = inputs | masks.inputs, {**memory, **masks.memory}
        return dict(scan(program, inputs, first, weights, memory, lengths_B).outputs)

    def at_positions(self, o_TBR: Tensor, memory: Mapping[str, Tensor]) -> Tensor:
        """Return o_t of each position of hard attention, T x B x S x R."""
        states_TBSR = torch.tanh(o_TBR.unsqueeze(2) + memory[POSITIONS])
        return apply_dropout(states_TBSR, "decoder.positions", self.config.dropout.probability, self.training)

    def advance(
        self,
        x_KBD: Tensor | Words,
        state: Mapping[str, Tensor],
        memory: Mapping[str, Tensor],
        language_KBL: Tensor | None = None,
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Return one step of K hypotheses a sentence: its signals, and the new state."""
        program, weights, x_KBW = read_words_of_step(self.program, self.weights.tensors(), x_KBD)
        signals = advance(program, _read(x_KBW, language_KBL), state, weights, memory)
        return signals, {name: signals[name] for name in self.program.carried}

    @torch.no_grad()
    def describe(self) -> tuple[PartDescription, ...]:
        """Return the parts of a step without dropout, by running one for one sentence."""
        weights, lengths_B = self.weights.tensors(), torch.ones(1, dtype=torch.int64)
        like = weights["input0.weight"]
        encoded = self.spec.example(like)
        read = {"x": like} | ({"language": weights["gate.weight"]} if "gate.weight" in weights else {})
        inputs = {name: like.new_zeros(1, 1, weight.shape[1]) for name, weight in read.items()}
        state = {name: rows.unsqueeze(0) for name, rows in self.initial_state(encoded, lengths_B).items()}
        return describe(self.program, inputs, state, weights, self.prepare(encoded, lengths_B))

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        self._layers.initialise(self.weights, start, generator)
        self._readout.initialise(self.weights)
        if self.attention:
            self.attention.initialise(self.weights)


def _read(x_XBW: Tensor, language_XBL: Tensor | None) -> dict[str, Tensor]:
    """Return the inputs of a step."""
    return {"x": x_XBW} if language_XBL is None else {"x": x_XBW, "language": language_XBL}
