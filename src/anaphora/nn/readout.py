"""o_t, what the output layer sees of a step: state, context and word before, combined.

    "tanh"      o_t = dropout(tanh(W_c c_t + W_h h_t + W_y y_{t-1} + b))       Luong et al. 2015
    "maxout"    the same sum, twice as wide, and the larger of every pair      Cho et al. 2014, Bahdanau et al. 2015
    "none"      o_t = dropout(h_t): no layer between                           Sutskever et al. 2014

h_t is what leaves the top layer, or, with ``readout_state`` "previous", what the top layer's unit had a step before
(Bahdanau et al. 2015, appendix A.2.2). The word is a term with ``readout_word``; the context, where there is one; and
with deep fusion what a gate lets through of a language model's state (``fusion.py``).
"""

from typing import ClassVar, Literal

import torch
from pydantic import Field

from anaphora.kernels.parts import Activate, Add, Column, Constant, Gated, Maxout, Part, Project, previous
from anaphora.nn.fusion import AnyFusion, DeepFusion
from anaphora.nn.stack import RecurrentConfig
from anaphora.nn.weights import Matrix, Weights, projection_matrices
from anaphora.options import MAX_UNITS, SET, Conflict

Context = Literal["step", "sentence", "column", "positions", "none"]
"""Context: one that every step computes, one for a whole sentence, one that is ready for each step, one for each
position, with which ``Decoder.at_positions`` completes o_t, or none."""


class ReadoutConfig(RecurrentConfig):
    """Input of the output layer."""

    readout_size: int = Field(0, ge=0, le=MAX_UNITS)
    """Width of o_t; 0: as wide as a layer."""
    readout_word: bool = False
    """True if the embedding of the word before enters o_t (Bahdanau et al. 2015, appendix A.2.2)."""
    readout_layer: Literal["tanh", "maxout", "none"] = "tanh"
    """Activation of o_t: tanh, maxout over pairs, or none: o_t is the output of the top layer."""
    readout_state: Literal["current", "previous"] = "current"
    """State that enters o_t: that of this step, or of the step before (Bahdanau et al. 2015, appendix A.2.2)."""

    @property
    def readout_width(self) -> int:
        """Width of o_t."""
        return self.readout_size or self.size

    conflicts: ClassVar[tuple[Conflict, ...]] = tuple(
        Conflict({name: SET, "readout_layer": "none"}, 'leave it out, or set decoder.readout_layer = "tanh"')
        for name in ("readout_size", "readout_word", "readout_state")
    )


class Readout:
    """The readout of one decoder; its weights stand beside those of the decoder."""

    def __init__(self, config: ReadoutConfig, context: Context, fusion: AnyFusion) -> None:
        """``context``: where it sees one; ``fusion``: whether a language model."""
        self.config, self._context = config, context
        self._fusion = fusion if isinstance(fusion, DeepFusion) else None

    def matrices(self, width: int, context: int) -> dict[str, Matrix]:
        """Return its weights; ``width`` of the embeddings, ``context``: numbers of the context, where there is one."""
        config, matrices = self.config, dict[str, Matrix]()
        if config.readout_layer == "none":
            return matrices
        rows = config.readout_width * (2 if config.readout_layer == "maxout" else 1)
        if self._context != "none":
            matrices |= projection_matrices("combine_context", rows, context, config.bias)
        matrices |= projection_matrices("combine_state", rows, config.size, config.bias and self._context == "none")
        matrices |= projection_matrices("combine_word", rows, width, False) if config.readout_word else {}
        if self._fusion:
            states = self._fusion.model.recurrence.size
            matrices |= projection_matrices("gate", 1, states, True)
            matrices |= projection_matrices("combine_language", rows, states, False)
        return matrices

    def initialise(self, weights: Weights) -> None:
        """Fill what starts from a given number, after all else was filled."""
        if self._fusion:
            with torch.no_grad():
                weights.tensors()["gate.bias"].fill_(self._fusion.gate_bias)

    def parts(self, top: str, unit: str, target: str) -> list[Part]:
        """Return the parts from ``top``, what leaves the top layer, to ``target``; ``unit`` is what its unit has.

        With fusion, the state of the language model comes as the signal ``language``.
        """
        config, state = self.config, top
        if config.readout_layer == "none":
            return [Add("readout", (top,), target)]
        if config.readout_state == "previous":
            state = previous(unit)
        terms: list[Part] = []
        if self._context == "step":
            terms.append(Project("combine_context", "context", "of_context", config.bias))
        elif self._context in ("sentence", "column"):
            terms.append(context_projection(self._context, "combine_context", "of_context"))
        terms.append(Project("combine_state", state, "of_state", config.bias and self._context == "none"))
        if config.readout_word:
            terms.append(Project("combine_word", "x", "of_word", False))
        gate: list[Part] = []
        if self._fusion:
            gate += [Project("gate", "language", "gate", True), Gated("gated", "language", "gated", "gate")]
            terms.append(Project("combine_language", "gated", "of_language", False))
        sums = tuple(signal for term in terms for signal in term.writes)
        combine = Maxout if config.readout_layer == "maxout" else Add if self._context == "positions" else Activate
        return [*gate, *terms, combine("combine", sums, target)]


def context_projection(context: Context, name: str, target: str) -> Part:
    """Part ``name``, which gives every step its context, projected beforehand: a vector of the sentence or a column."""
    return Column(name, "clock", target) if context == "column" else Constant(name, "x", target)
