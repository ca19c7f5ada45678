"""Counts of tokens in training, by which outputs over large vocabularies are laid out."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

T = TypeVar("T")


class Counts(nn.Module):
    """The counts of V units, kept with the weights, and what is derived from them.

    What a weight means may depend on them (which word a leaf of a tree is), so that the same counts must give the same
    layout for ever; therefore it is derived from them again when it is needed, and never saved beside them.
    """

    observed: Tensor

    def __init__(self, size: int) -> None:
        """``size`` units, none of which was seen yet."""
        super().__init__()
        self.register_buffer("observed", torch.zeros(size, dtype=torch.int64))
        self._derived: tuple[tuple[torch.device, int] | None, Any] = (None, None)

    @property
    def known(self) -> bool:
        """True if anything was counted."""
        return bool(self.observed.any())

    def set_token_counts(self, counts_V: Tensor) -> None:
        """Take the counts of a training text."""
        self.observed.copy_(counts_V)

    @property
    def later(self) -> Tensor:
        """Mask of tokens that came to the vocabulary after the weights were laid out."""
        return self.observed < 0

    def append(self, first: int) -> None:
        """Take the units from ``first`` on for such later ones."""
        self.observed[first:] = -1

    def derive(self, make: Callable[[Tensor], T]) -> T:
        """Return ``make`` of the counts plus one, so that no token is impossible; computed once.

        A module asks for one thing only, always by the same ``make``.
        """
        # filling it from a checkpoint makes another version of it; on another device it needs what lies there
        version = self.observed.device, self.observed._version
        if self._derived[0] != version:
            with torch.inference_mode(False):
                self._derived = version, make(self.observed.clamp(min=0) + 1)
        return cast(T, self._derived[1])


def by_frequency(counts_V: Tensor) -> Tensor:
    """Return the units from the most frequent to the rarest; of equal ones the lower id comes first."""
    return torch.argsort(counts_V, descending=True, stable=True)


def ranks(counts_V: Tensor) -> Tensor:
    """Return the rank of every unit, 0 for the most frequent."""
    order_V = by_frequency(counts_V)
    return torch.empty_like(order_V).index_copy_(0, order_V, torch.arange(len(order_V), device=order_V.device))
