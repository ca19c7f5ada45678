"""The attentional decoder in both topologies of the papers, as a program of step parts.

    query "current", context "output"   the unit first, then attention with its new state, then both are combined
                                        (Luong, Pham and Manning 2015)
    query "previous", context "state"   attention with the state before, and the context enters the unit
                                        (Bahdanau, Cho and Bengio 2015)

In both, o_t = dropout(tanh(W_c c_t + W_h h_t)) is what the output layer sees. With input feeding, o_{t-1} enters the
bottom layer beside the embedding (o_0 = 0).
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.kernels.parts import Activate, Attend, Mask, Part, Project, Unit, previous
from anaphora.kernels.products import linear
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance, scan
from anaphora.kernels.scores import AnyScore, General
from anaphora.nn.encoder import Encoded
from anaphora.nn.randomness import dropout_mask
from anaphora.nn.stack import RecurrentConfig, projection_matrices, unit_matrices
from anaphora.nn.weights import Matrix, Start, Weights


class DecoderConfig(RecurrentConfig):
    """A recurrent decoder."""

    start: Literal["project", "zero"] = "project"
    """Where its first state comes from: the encoder's summary, projected layer by layer, or nothing."""
    start_activation: Literal["none", "tanh"] = "none"
    """What the projected start state goes through (Bahdanau et al. 2015: tanh)."""
    input_feeding: bool = True
    """Whether o_{t-1} enters the bottom layer (Luong et al. 2015, section 3.3)."""
    readout: int = 0
    """Width of o_t; 0: as wide as a layer."""

    @property
    def readout_size(self) -> int:
        """Width of o_t."""
        return self.readout or self.size


class AttentionConfig(Config):
    """How the decoder looks at the source."""

    score: AnyScore = General()
    """How well a position fits the query."""
    span: Literal["global"] = "global"
    """Which positions are looked at."""
    query: Literal["previous", "current"] = "current"
    """Which state of the top layer asks: the one before this step, or the new one."""
    context: Literal["state", "output"] = "output"
    """Where the context goes: into the bottom layer's unit (and the output), or into the output alone."""
    size: int = 0
    """Width of the scoring layer of score "concat"; 0: as wide as the decoder."""


class Decoder(nn.Module):
    """Recurrent layers, attention, and the combination of both."""

    def __init__(
        self, config: DecoderConfig, attention: AttentionConfig, width: int, memory: int, summaries: tuple[str, ...]
    ) -> None:
        """``width`` of the embeddings, ``memory`` of an annotation, ``summaries``: fields of the encoder's state.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        config.check_bias()
        if (attention.query, attention.context) not in (("current", "output"), ("previous", "state")):
            raise ConfigError(
                f"attention.query '{attention.query}' does not go with attention.context '{attention.context}': "
                f'use "current" with "output" (Luong et al. 2015), or "previous" with "state" (Bahdanau et al. 2015).'
            )
        self.config, self.attention, self.summary_fields = config, attention, summaries
        self._hidden = attention.size or config.size
        self.weights = Weights(self._matrices(width, memory))
        self._plain, self._masked = self._program(masked=False), self._program(masked=True)

    def _matrices(self, width: int, memory: int) -> dict[str, Matrix]:
        config, readout = self.config, self.config.readout_size
        rows, gates = config.cell.gates * config.size, config.cell.gates
        matrices: dict[str, Matrix] = {}
        for layer in range(config.layers):
            columns = width if layer == 0 else config.size
            matrices |= projection_matrices(f"input{layer}", rows, columns, config.bias, gates)
            matrices |= unit_matrices(f"layer{layer}", config.cell, config.size)
            if config.start == "project":
                for field in config.cell.state:
                    matrices |= projection_matrices(f"start{layer}_{field}", config.size, memory, config.bias)
        if config.input_feeding:
            matrices |= projection_matrices("feed", rows, readout, False, gates)
        if self.attention.context == "state":
            matrices |= projection_matrices("context", rows, memory, False, gates)
        for name, shape in self.attention.score.weights(config.size, memory, self._hidden).items():
            matrices[f"attention.{name}"] = Matrix(shape[0], shape[1])
        matrices |= projection_matrices("combine_context", readout, memory, config.bias)
        return matrices | projection_matrices("combine_state", readout, config.size, False)

    def _program(self, masked: bool) -> Program:
        """One step; ``masked`` with dropout between the layers and on o_t."""
        config, into_unit = self.config, self.attention.context == "state"
        top = f"layer{config.layers - 1}.h"
        scale = self.attention.score.width(config.size, self._hidden) ** -0.5 if self.attention.score.scaled else 1.0
        attend = Attend("attention", self.attention.score, scale, previous(top) if into_unit else top)
        parts: list[Part] = []
        bottom = ["a0"]
        if config.input_feeding:
            parts.append(Project("feed", previous("o"), "fed", False))
            bottom.append("fed")
        if into_unit:
            parts += [attend, Project("context", "context", "attended", False)]
            bottom.append("attended")
        source = "x"
        for layer in range(config.layers):
            parts.append(Project(f"input{layer}", source, f"a{layer}", config.bias))
            inputs = tuple(bottom) if layer == 0 else (f"a{layer}",)
            parts.append(Unit(f"layer{layer}", config.cell, inputs))
            source = f"layer{layer}.h"
            if masked and layer < config.layers - 1:
                parts.append(Mask(f"dropout{layer}", source, f"mask{layer}", f"dropped{layer}"))
                source = f"dropped{layer}"
        if not into_unit:
            parts.append(attend)
        parts += [
            Project("combine_context", "context", "of_context", config.bias),
            Project("combine_state", top, "of_state", False),
            Activate("combine", ("of_context", "of_state"), "combined" if masked else "o"),
        ]
        if masked:
            parts.append(Mask("dropout", "combined", "mask", "o"))
        return Program(tuple(parts), ("o", "weights"))

    def prepare(self, encoded: Encoded, lengths_B: Tensor) -> dict[str, Tensor]:
        """The memory of a batch: what does not depend on the step."""
        annotations_BSM = encoded.annotations_BSM
        weights = {
            n.removeprefix("attention."): w for n, w in self.weights.tensors().items() if n.startswith("attention.")
        }
        return {
            "attention.keys": self.attention.score.prepare(annotations_BSM, weights),
            "attention.values": annotations_BSM,
            "attention.closed": torch.arange(annotations_BSM.shape[1]) >= lengths_B.unsqueeze(1),
        }

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
        return state

    def forward(
        self, x_TBD: Tensor, lengths_B: Tensor, first: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """o (T x B x readout) and the attention weights (T x B x S) of whole sentences."""
        rate = self.config.dropout if self.training else 0.0
        inputs = {"x": x_TBD}
        if rate:
            widths = {f"mask{n}": self.config.size for n in range(self.config.layers - 1)}
            for name, width in (widths | {"mask": self.config.readout_size}).items():
                inputs[name] = dropout_mask(f"decoder.{name}", (*x_TBD.shape[:2], width), rate, x_TBD)
        outputs = scan(
            self._masked if rate else self._plain, inputs, first, self.weights.tensors(), memory, lengths_B
        ).outputs
        return outputs["o"], outputs["weights"]

    def advance(
        self, x_KBD: Tensor, state: Mapping[str, Tensor], memory: Mapping[str, Tensor]
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """One step of K hypotheses a sentence: o, the attention weights, and the new state."""
        signals = advance(self._plain, {"x": x_KBD}, state, self.weights.tensors(), memory)
        return signals["o"], signals["weights"], {name: signals[name] for name in self._plain.carried}

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""
        self.weights.initialise(start, generator)
        if self.config.bias:
            with torch.no_grad():
                for layer in range(self.config.layers):
                    self.config.cell.start_bias(self.weights.tensors()[f"input{layer}.bias"])
