"""The attentional decoder in the topologies of the papers, as a program of step parts.

    query "current", context "output"   the unit first, then attention with its new state, then both are combined
                                        (Luong, Pham and Manning 2015)
    query "previous", context "state"   attention with the state before, and the context enters the unit
                                        (Bahdanau, Cho and Bengio 2015)
    query "current", context "state"    the bottom layer's step in two halves: the first half's state asks, and the
                                        context enters the second (the conditional GRU, Sennrich et al. 2017)

In all, o_t = dropout(tanh(W_c c_t + W_h h_t)) is what the output layer sees; with ``readout_word`` the embedding of
the word before is a third term. With input feeding, o_{t-1} enters the bottom layer beside the embedding (o_0 = 0).

With residual connections, h_t of the current step is the sum that leaves the top layer; the state before, which asks
in the second topology, is that of the top layer's unit itself.
"""

from collections.abc import Mapping
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.kernels.parts import Activate, Part, Project, previous
from anaphora.kernels.products import linear
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance, scan
from anaphora.nn.attention import AnyAttention, attention_of
from anaphora.nn.encoder import Encoded
from anaphora.nn.stack import Layers, Question, RecurrentConfig, projection_matrices
from anaphora.nn.weights import Matrix, Start, Weights


class DecoderConfig(RecurrentConfig):
    """A recurrent decoder."""

    start: Literal["project", "zero"] = "project"
    """Where its first state comes from: the encoder's summary, projected layer by layer, or nothing."""
    start_activation: Literal["none", "tanh"] = "none"
    """What the projected start state goes through (Bahdanau et al. 2015: tanh)."""
    input_feeding: bool = True
    """Whether o_{t-1} enters the bottom layer (Luong et al. 2015, section 3.3)."""
    readout: int = Field(0, ge=0)
    """Width of o_t; 0: as wide as a layer."""
    readout_word: bool = False
    """Whether the embedding of the word before enters o_t (Bahdanau et al. 2015, appendix A.2.2)."""

    @property
    def readout_size(self) -> int:
        """Width of o_t."""
        return self.readout or self.size


class Decoder(nn.Module):
    """Recurrent layers, attention, and the combination of both."""

    def __init__(
        self, config: DecoderConfig, attention: AnyAttention, width: int, memory: int, summaries: tuple[str, ...]
    ) -> None:
        """``width`` of the embeddings, ``memory`` of an annotation, ``summaries``: fields of the encoder's state.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        self.config, self.summary_fields = config, summaries
        self.attention = attention_of(attention, config.size, memory)
        self._answer = Project("context", "context", "attended", attention.halfway and config.input_bias)
        question = Question(self.attention.parts("ask.h"), self._answer) if attention.halfway else None
        self._layers = Layers(config, question)
        self.weights = Weights(self._matrices(width, memory))
        self._plain, self._training = self._program(training=False), self._program(training=True)

    def _matrices(self, width: int, memory: int) -> dict[str, Matrix]:
        config, readout = self.config, self.config.readout_size
        rows, gates = config.cell.gates * config.size, config.cell.gates
        matrices = self._layers.matrices(width)
        if config.start == "project":
            for layer in range(config.layers):
                for field in config.cell.state:
                    matrices |= projection_matrices(f"start{layer}_{field}", config.size, memory, config.bias)
        if config.input_feeding:
            matrices |= projection_matrices("feed", rows, readout, False, gates)
        if self.attention.config.context == "state":
            matrices |= projection_matrices("context", rows, memory, self._answer.bias, gates)
        matrices |= self.attention.matrices()
        matrices |= projection_matrices("combine_context", readout, memory, config.bias)
        matrices |= projection_matrices("combine_state", readout, config.size, False)
        return matrices | (projection_matrices("combine_word", readout, width, False) if config.readout_word else {})

    def _program(self, training: bool) -> Program:
        """One step; ``training`` with dropout between the layers and on o_t."""
        config, into_unit = self.config, self.attention.config.context == "state"
        before, beside = self._before_layers(into_unit and not self.attention.config.halfway)
        layers, top = self._layers.parts(beside, training, masked=config.layers - 1)
        dropped = training and config.dropout.rate > 0
        after: list[Part] = [] if into_unit else [*self.attention.parts(top)]
        terms = [
            Project("combine_context", "context", "of_context", config.bias),
            Project("combine_state", top, "of_state", False),
        ]
        if config.readout_word:
            terms.append(Project("combine_word", "x", "of_word", False))
        combined = Activate("combine", tuple(term.target for term in terms), "combined" if dropped else "o")
        after += [*terms, combined]
        if dropped:
            after.append(config.dropout.part("dropout", "combined", "o"))
        return Program((*before, *layers, *after), ("o", "weights"))

    def _before_layers(self, attends: bool) -> tuple[list[Part], tuple[str, ...]]:
        """What is known before the layers take their step, and what of it enters the bottom one."""
        parts: list[Part] = []
        beside: list[str] = []
        if self.config.input_feeding:
            parts.append(Project("feed", previous("o"), "fed", False))
            beside.append("fed")
        if attends:
            state = f"layer{self.config.layers - 1}.h"
            parts += [*self.attention.parts(previous(state)), self._answer]
            beside.append(self._answer.target)
        return parts, tuple(beside)

    def prepare(self, encoded: Encoded, lengths_B: Tensor) -> dict[str, Tensor]:
        """The memory of a batch: what does not depend on the step."""
        return self.attention.prepare(encoded.annotations_BSM, lengths_B, self.weights.tensors())

    def first(self, encoded: Encoded) -> dict[str, Tensor]:
        """The state before the first word, B x width by carried signal."""
        config, weights = self.config, self.weights.tensors()
        sentences = len(encoded.annotations_BSM)
        state = {}
        for layer in range(config.layers):
            summary = encoded.summaries[min(layer, len(encoded.summaries) - 1)]
            for field in config.cell.state:
                name = f"layer{layer}.{field}"
                if config.start == "zero":
                    state[name] = encoded.annotations_BSM.new_zeros(sentences, config.size)
                    continue
                whole = summary.get(field, summary["h"])
                part = f"start{layer}_{field}"
                value = linear(whole, weights[f"{part}.weight"])
                if config.bias:
                    value = value + weights[f"{part}.bias"]
                state[name] = torch.tanh(value) if config.start_activation == "tanh" else value
        if config.input_feeding:
            state["o"] = encoded.annotations_BSM.new_zeros(sentences, config.readout_size)
        return state | self.attention.first(encoded.annotations_BSM)

    def forward(
        self, x_TBD: Tensor, lengths_B: Tensor, first: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """o (T x B x readout) and the attention weights (T x B x S) of whole sentences."""
        config, program, weights, inputs = self.config, self._plain, self.weights.tensors(), {"x": x_TBD}
        if self.training:
            program, weights = self._training, self.weights.dropped("decoder", config.weight_dropout)
            widths = {f"dropout{n}": config.size for n in range(config.layers - 1)} | {"dropout": config.readout_size}
            masks = config.dropout.draw("decoder", widths, self._layers.units, x_TBD)
            inputs, memory = inputs | masks.inputs, {**memory, **masks.memory}
        outputs = scan(program, inputs, first, weights, memory, lengths_B).outputs
        return outputs["o"], outputs["weights"]

    def advance(
        self, x_KBD: Tensor, state: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """One step of K hypotheses a sentence: o, the attention weights, and the new state."""
        signals = advance(self._plain, {"x": x_KBD}, state, self.weights.tensors(), memory)
        return signals["o"], signals["weights"], {name: signals[name] for name in self._plain.carried}

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""
        self._layers.initialise(self.weights, start, generator)
