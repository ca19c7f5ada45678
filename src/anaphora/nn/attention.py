"""How a decoder looks at the source: the options, and what they make of weights, step parts, memory and state."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import torch
from pydantic import BeforeValidator, Field
from torch import Tensor

from anaphora.config import Config, by_kind
from anaphora.errors import ConfigError
from anaphora.kernels.parts import Attend, Part
from anaphora.kernels.scores import AnyScore, General
from anaphora.nn.encoders.encoder import Gives
from anaphora.nn.weights import Matrix


class NoAttention(Config):
    """A decoder that looks at nothing: all it knows of the source is a summary."""

    kind: Literal["none"]
    """The kind of attention."""


class AttentionConfig(Config):
    """How the decoder looks at the source."""

    kind: Literal["soft"] = "soft"
    """The kind of attention: a mean of the annotations, weighted by how well they fit."""
    score: AnyScore = General()
    """How well a position fits the query."""
    span: Literal["global"] = "global"
    """Which positions are looked at."""
    query: Literal["previous", "current"] = "current"
    """Which state asks: the top layer's before this step, or a new one: the top layer's, or, where the context goes
    into the state, the one that the bottom layer has halfway."""
    context: Literal["state", "output"] = "output"
    """Where the context goes: into the bottom layer's unit (and the output), or into the output alone."""
    size: int = Field(0, ge=0)
    """Width of the scoring layer of score "concat"; 0: as wide as the decoder."""

    @property
    def halfway(self) -> bool:
        """Whether the bottom layer's step has two halves, with attention between them."""
        return self.query == "current" and self.context == "state"


def _soft_unless_named(value: Any) -> Any:
    return {"kind": "soft", **value} if isinstance(value, Mapping) else value


AnyAttention = Annotated[
    AttentionConfig | NoAttention, Field(discriminator="kind"), BeforeValidator(_soft_unless_named), by_kind
]
"""Attention as a recipe names it: the table ``[attention]``, or ``attention = "none"``."""


class Attention:
    """Attention as a decoder asks for it; its weights, memory and signals stand beside those of the decoder."""

    name = "attention"
    """In front of the names of its weights and of its memory."""

    def __init__(self, config: AttentionConfig, query: int, gives: Gives) -> None:
        """``query``: width of the state that asks; ``gives``: what the encoder gives.

        Raises:
            ConfigError: the options do not go together.
        """
        if config.query == "previous" and config.context == "output":
            raise ConfigError(
                'attention.query "previous" does not go with attention.context "output": use "current" with "output" '
                '(Luong et al. 2015), "previous" with "state" (Bahdanau et al. 2015), or "current" with "state" '
                "(Sennrich et al. 2017)."
            )
        if not gives.annotations:
            raise ConfigError(
                "attention looks at an annotation of every position, but this encoder leaves one vector of a sentence: "
                'set attention = "none", or encoder.kind = "recurrent".'
            )
        self.config = config
        self._query, self._memory, self._hidden = query, gives.width, config.size or query

    def matrices(self) -> dict[str, Matrix]:
        """Its weights.

        Raises:
            ConfigError: the score cannot compare a query and an annotation of these widths.
        """
        shapes = self.config.score.weights(self._query, self._memory, self._hidden)
        return {f"{self.name}.{short}": Matrix(*shape) for short, shape in shapes.items()}

    def parts(self, query: str) -> tuple[Part, ...]:
        """From the signal ``query`` to the signals ``context`` and ``weights``."""
        score = self.config.score
        scale = score.width(self._query, self._hidden) ** -0.5 if score.scaled else 1.0
        return (Attend(self.name, score, scale, query),)

    def prepare(self, annotations_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The memory of a batch: what does not depend on the step; ``weights`` are those of the whole decoder."""
        own = {n.removeprefix(f"{self.name}."): w for n, w in weights.items() if n.startswith(f"{self.name}.")}
        positions_S = torch.arange(annotations_BSM.shape[1], device=annotations_BSM.device)
        return {
            f"{self.name}.keys": self.config.score.prepare(annotations_BSM, own),
            f"{self.name}.values": annotations_BSM,
            f"{self.name}.closed": positions_S >= lengths_B.to(positions_S.device).unsqueeze(1),
        }

    def first(self, annotations_BSM: Tensor) -> dict[str, Tensor]:
        """What it carries from step to step, before the first: B x width by signal. Its scores carry nothing."""
        return {}
