"""Attention window: the positions that a step looks at, and how their weight falls off.

A new span is one file like ``local.py`` and one line in ``__init__.py``. Positions count from 1, as in the papers.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.lowering import PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls


class Focus(NamedTuple):
    """Positions that a step may look at."""

    closed_XBS: Tensor
    """True for positions that are not looked at, at least those past the end; X may be left out."""
    factor_XBS: Tensor | None
    """Factor of the weight of each open position; None is 1."""


class LoweredFocus(NamedTuple):
    """The same as values."""

    window: Value
    """The first open position, from 0, and the first closed one after it: the open ones lie side by side."""
    factor: Value | None


class Span(Config):
    """One way to choose positions."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The signals that it reads beside the query."""
        return ()

    def weights(self, query: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights that it needs, by name; ``hidden`` is the width of a layer of its own."""
        return {}

    @abstractmethod
    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Focus, Any]:
        """Return the open positions, and what ``backward`` needs. Every sentence keeps at least one open position."""

    def centre(self, saved: Any) -> Tensor:
        """The middle of each window (X x B x 1), where ``forward`` saved something."""
        raise NotImplementedError

    def backward(self, saved: Any, dfactor_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """The gradient of the factor gives those of the query and of ``beside``; asked for where there is a factor."""
        raise NotImplementedError

    def obstacle(self) -> str:
        """Why the time loop in C cannot run it, in a few words; empty where it has a ``lower``."""
        return (
            "" if type(self).lower is not Span.lower else f"the window '{getattr(self, 'kind', '')}' has no native body"
        )

    def lower(self, query: Value, beside: Values, attend: PartLowering) -> tuple[LoweredFocus, Any]:
        """``forward`` as operations of C."""
        raise NotImplementedError

    def lower_back(self, saved: Any, dfactor: Value, window: Value, attend: PartLowering) -> Values:
        """``backward`` as operations of C; asked for where there is a factor."""
        raise NotImplementedError


def positions(matmul: PartMatmuls, rows: int) -> tuple[Tensor, Tensor]:
    """Return a mask of the positions past the end (B x S), and the positions 1 .. S."""
    closed_BS = matmul.sentences("closed", rows)
    return closed_BS, torch.arange(1, closed_BS.shape[1] + 1, device=closed_BS.device)
