"""Attention of a decoder to the source: options, weights, step parts, memory and state.

soft      e = score(query, annotation), weights over the positions of a span (Bahdanau et al. 2015, Luong et al.
          2015, Chorowski et al. 2015, Tu et al. 2016)
hard      one position a step, which is a latent variable: the likelihood sums over all alignments (Wu, Shapiro and
          Cotterell 2018; Wu and Cotterell 2019)
window    Gaussians that move forward over the sentence, without any score (Graves 2013)
none      the summary of the sentence alone (``bridge.py``)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from math import log
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import ByKind, Config, by_kind_or
from anaphora.errors import ConfigError
from anaphora.kernels.alignments import Alignments
from anaphora.kernels.attention import Attend, ScorePositions
from anaphora.kernels.normalizers import AnyNormalizer, Softmax
from anaphora.kernels.parts import Add, Clock, Gated, Part, Project, is_previous, previous, signal_of
from anaphora.kernels.scores import AnyScore, General
from anaphora.kernels.scores.additive import Additive
from anaphora.kernels.spans import AnySpan, Global, LocalPredictive
from anaphora.kernels.window import GaussianWindow, Move
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.nn.weights import Matrix, Weights, projection_matrices
from anaphora.options import MAX_LENGTH, MAX_UNITS, SET, Conflict


class NoAttention(Config):
    """A decoder that looks at nothing: all it knows of the source is a summary."""

    kind: Literal["none"]


class AttentionBase(Config):
    """Options of every kind of attention."""

    query: Literal["previous", "current"] = "current"
    """State that is the query: the top layer's of the step before, or one of this step: the top layer's, or, where the
    context goes into the state, the bottom layer's between its two transitions."""
    context: Literal["state", "output"] = "output"
    """Destination of the context: the bottom layer's unit (and the output), or the output alone."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"query": "previous", "context": "output"},
            'use "current" with "output" (Luong et al. 2015), "previous" with "state" (Bahdanau et al. 2015), or '
            '"current" with "state" (Sennrich et al. 2017)',
        ),
    )

    @property
    def two_transitions(self) -> bool:
        """True if the bottom layer's step has two transitions, with attention between them."""
        return self.query == "current" and self.context == "state"


class AttentionConfig(AttentionBase):
    """Attention to the source."""

    kind: Literal["soft"] = "soft"
    score: ByKind[AnyScore] = General()
    """Score of a position for the query."""
    window: ByKind[AnySpan] = Global()
    """Positions that are attended to."""
    normalizer: ByKind[AnyNormalizer] = Softmax()
    """Normalizer of scores."""
    size: int = Field(0, ge=0, le=MAX_UNITS)
    """Width of the layer that the scores "concat" and "hybrid" have, and the span "local-p"; 0: as wide as the
    decoder."""
    gate: bool = False
    """True if the context is scaled by one number from 0 to 1 that the query decides (beta of Xu et al. 2015)."""
    doubly_stochastic: float = Field(0.0, ge=0)
    """Factor of the penalty on positions whose weights over all steps do not sum to 1 (Xu et al. 2015, equation 14)."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {
                "size": SET,
                "score": lambda score: not isinstance(score, Additive),
                "window": lambda span: not isinstance(span, LocalPredictive),
            },
            'neither has a layer of that width; leave it out, or set attention.score = "concat"',
            written=True,
        ),
    )


class HardAttention(AttentionBase):
    """Attention to one position a step that never goes back, with the sum over all alignments as the likelihood."""

    kind: Literal["hard-monotonic"]
    score: ByKind[AnyScore] = General()
    """Score of a position for the query."""
    size: int = Field(0, ge=0, le=MAX_UNITS)
    """Width of the layer that the score "concat" has; 0: as wide as the decoder."""
    order: Literal[0, 1] = 1
    """1 if a position also has a score for the distance from the one before it, 0 if not."""
    jumps: int = Field(5, ge=1, le=MAX_LENGTH)
    """Distances with a score of their own with ``order`` 1; longer ones have that of the longest."""
    monotonic: bool = True
    """True if alignments never go back; without it, this is the exact hard attention of Wu et al. (2018)."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"score": lambda score: score.beside},
            'the score looks at soft weights, which hard attention has none of; set attention.score = "general"',
        ),
        Conflict({"jumps": SET, "order": 0}, "no distance has a score; leave it out, or set attention.order = 1"),
        Conflict(
            lambda table: table.query != "current" or table.context != "output",
            '{at}kind = "hard-monotonic" reads what was written alone: leave {at}query and {at}context out',
        ),
    )


class WindowAttention(AttentionBase):
    """A decoder that looks through a soft window, which only ever moves forward."""

    kind: Literal["gaussian-window"]
    components: int = Field(10, ge=1, le=MAX_UNITS)
    """Number of Gaussians that the window is the sum of."""
    bias: bool = True
    """True if what the query says of each has a bias."""
    initial_step: float = Field(1.0, gt=0)
    """Positions that the window moves in a step before training; less than 1 where outputs are longer than inputs."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"initial_step": SET, "bias": False}, "it is what the bias starts from; leave one of the two out"),
    )


AnyAttention = Annotated[
    AttentionConfig | HardAttention | WindowAttention | NoAttention, Field(discriminator="kind"), by_kind_or("soft")
]
"""Attention as a recipe names it: the table ``[attention]``, or ``attention = "none"``."""


class Attention(ABC):
    """The attention of a decoder; its weights, memory and signals stand beside those of the decoder."""

    name = "attention"
    """Prefix of the names of its weights and of its memory."""
    config: AttentionBase

    def __init__(self, query: int, spec: EncoderSpec) -> None:
        """``query``: width of the query; ``spec``: what the encoder gives.

        Raises ConfigError where the options do not go together.
        """
        if not spec.annotations:
            raise ConfigError(
                'attention needs annotations, but this encoder gives none: set attention = "none", or '
                'encoder.kind = "recurrent".'
            )
        self._query, self._memory = query, spec.width

    @abstractmethod
    def matrices(self) -> dict[str, Matrix]:
        """Return its weights. Raises ConfigError where it needs a query and annotations of other widths."""

    @abstractmethod
    def parts(self, query: str) -> tuple[Part, ...]:
        """Return the parts from the signal ``query`` to the signals ``context`` and ``weights``."""

    def prepare(self, annotations_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the memory of a batch: what does not depend on the step; ``weights`` are those of the whole decoder.

        Annotations stand in the order of the sentence, from whichever end the encoder read it.
        """
        positions_S = torch.arange(annotations_BSM.shape[1], device=annotations_BSM.device)
        lengths_B1 = lengths_B.to(positions_S.device).unsqueeze(1)
        return {
            f"{self.name}.values": annotations_BSM,
            f"{self.name}.closed": positions_S >= lengths_B1,
            f"{self.name}.length": lengths_B1,
        }

    def initialise(self, weights: Weights) -> None:  # noqa: B027 - scores have no such number
        """Fill what starts from a given number, after all else was filled."""

    def initial_state(self, ops: Any, annotations: Any) -> dict[str, Any]:
        """Return its state before the first step, B x width by signal; ``ops`` as for ``Bridge.initial_state``."""
        return {}


class ScoredAttention(Attention):
    """Attention by a score."""

    config: AttentionConfig | HardAttention

    def __init__(self, config: AttentionConfig | HardAttention, query: int, spec: EncoderSpec) -> None:
        super().__init__(query, spec)
        self.config, self._hidden = config, config.size or query
        self.scale = config.score.width(query, self._hidden) ** -0.5 if config.score.scaled else 1.0
        """Factor of the scores."""

    def matrices(self) -> dict[str, Matrix]:
        """Return the matrices of the score."""
        return self._named(self.config.score.weights(self._query, self._memory, self._hidden))

    def _named(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Matrix]:
        return {
            f"{self.name}.{short}": Matrix(shape[0], shape[1] if shape[1:] else 0) for short, shape in shapes.items()
        }

    def prepare(self, annotations_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the memory of a batch; a sentence longer than the score can tell apart is cut for it."""
        own = {n.removeprefix(f"{self.name}."): w for n, w in weights.items() if n.startswith(f"{self.name}.")}
        memory = self.config.score.prepare(annotations_BSM, lengths_B, own)
        keys = {f"{self.name}.{short}": block for short, block in memory.items()}
        return keys | super().prepare(annotations_BSM, self.config.score.reach(lengths_B), weights)


class LatentAttention(ScoredAttention):
    """Hard attention: the scores of positions and of distances, which ``kernels.alignments`` makes weights of."""

    config: HardAttention

    @property
    def alignments(self) -> Alignments:
        """The transitions that its scores are for."""
        return Alignments(self.scale, self.config.jumps if self.config.order else 0, self.config.monotonic)

    def matrices(self) -> dict[str, Matrix]:
        """Return the matrices of the score and of the distances."""
        config = self.config
        distances = config.jumps + 1 if config.monotonic else 2 * config.jumps + 1
        jumps = projection_matrices("jumps", distances, self._query, True) if config.order else {}
        return super().matrices() | jumps

    def parts(self, query: str) -> tuple[Part, ...]:
        """Score positions and distances: the signals ``scores`` and ``jumps``."""
        scores = ScorePositions(self.name, query, "scores", self.config.score)
        return (scores, Project("jumps", query, "jumps", True)) if self.config.order else (scores,)


class SoftAttention(ScoredAttention):
    """Attention by a score, over a span."""

    config: AttentionConfig

    def matrices(self) -> dict[str, Matrix]:
        """Return the matrices of the score, the window and the gate."""
        matrices = super().matrices() | self._named(self.config.window.weights(self._query, self._hidden))
        return matrices | (projection_matrices("context_gate", 1, self._query, True) if self.config.gate else {})

    def parts(self, query: str) -> tuple[Part, ...]:
        """Attend, with what counts steps or sums up weights where score or span look at it."""
        gated = (
            Project("context_gate", query, "context_gate", True),
            Gated("gated_context", "attended_context", "context", "context_gate"),
        )
        target = "attended_context" if self.config.gate else "context"
        attend = Attend(
            self.name, self.config.score, self.config.window, self.config.normalizer, self.scale, query, target
        )
        clock = (Clock(),) if "clock" in attend.reads else ()
        covered = previous("coverage")
        coverage = (Add("coverage", (covered, "weights"), "coverage"),) if covered in attend.reads else ()
        return (*clock, attend, *(gated if self.config.gate else ()), *coverage)

    def initial_state(self, ops: Any, annotations: Any) -> dict[str, Any]:
        """Weights of 1 at the first position; no coverage yet; step 0."""
        carried = {signal_of(read) for part in self.parts("query") for read in part.reads if is_previous(read)}
        first: dict[str, tuple[str, dict[str, int]]] = {
            "weights": ("first_position", {}),
            "coverage": ("zero_positions", {}),
            "clock": ("zeros", {"width": 1}),
        }
        return {name: ops.add(one, annotations, **options) for name, (one, options) in first.items() if name in carried}


class SoftWindow(Attention):
    """Attention by a soft window."""

    config: WindowAttention

    def __init__(self, config: WindowAttention, query: int, spec: EncoderSpec) -> None:
        super().__init__(query, spec)
        self.config = config

    def matrices(self) -> dict[str, Matrix]:
        """Return the projection of the query, in the blocks alpha, beta, kappa."""
        return projection_matrices("window", 3 * self.config.components, self._query, self.config.bias, 3)

    def parts(self, query: str) -> tuple[Part, ...]:
        """Return the projection, and the window moved and looked through."""
        projected = Project("window", query, "window.hat", self.config.bias)
        return projected, Move("move", "window.hat"), GaussianWindow(self.name, "window.hat")

    def initialise(self, weights: Weights) -> None:
        """Add the logarithm of the first step to the bias of khat."""
        if self.config.bias:
            with torch.no_grad():
                weights.tensors()["window.bias"][2 * self.config.components :] += log(self.config.initial_step)

    def initial_state(self, ops: Any, annotations: Any) -> dict[str, Any]:
        """Return all Gaussians in front of the first position."""
        return {"kappa": ops.add("zeros", annotations, width=self.config.components)}


def attention_of(config: AnyAttention, query: int, spec: EncoderSpec) -> Attention | None:
    """Return the attention of a decoder whose state is ``query`` wide, over what an encoder of ``spec`` gives.

    None without.

    Raises ConfigError where the options do not go together.
    """
    return None if isinstance(config, NoAttention) else _ATTENTIONS[type(config)](config, query, spec)


_ATTENTIONS: Mapping[type[AttentionBase], Callable[..., Attention]] = {
    HardAttention: LatentAttention,
    AttentionConfig: SoftAttention,
    WindowAttention: SoftWindow,
}
