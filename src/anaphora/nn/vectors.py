"""The vectors that a network reads: their width, and the scale that the training split gives them."""

from collections.abc import Iterable
from typing import Self

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Items, Values
from anaphora.config import Config
from anaphora.errors import ShapeError
from anaphora.options import MAX_UNITS


class VectorsConfig(Config):
    """The vectors of a sequence, as the training split has them; kept in the run."""

    size: int = Field(0, ge=0, le=MAX_UNITS)
    """Numbers of a vector; 0: by the data."""
    mean: tuple[float, ...] = ()
    """Means, which are subtracted; empty: by the training split."""
    deviation: tuple[float, ...] = ()
    """Standard deviations, by which numbers are divided; empty: by the training split."""

    @property
    def resolved(self) -> bool:
        """True if nothing is left to the data."""
        return len(self.mean) == len(self.deviation) == self.size > 0

    def with_scale(self, mean: Iterable[float], deviation: Iterable[float]) -> Self:
        """Return the options with the scale of the training split where none is given."""
        found = tuple(mean)
        own = {"size": len(found), "mean": self.mean or found, "deviation": self.deviation or tuple(deviation)}
        return self.with_options(own)


class VectorScale(nn.Module):
    """Vectors scaled by their means and deviations in training."""

    mean_D: Tensor
    deviation_D: Tensor

    def __init__(self, config: VectorsConfig) -> None:
        """No weights: the scale is made of the experiment, so no checkpoint needs it."""
        super().__init__()
        self.register_buffer("mean_D", torch.tensor(config.mean), persistent=False)
        self.register_buffer("deviation_D", torch.tensor(config.deviation), persistent=False)

    def scale(self, rows: Items) -> tuple[Tensor, Values]:
        """Return the scaled vectors, B x S x D, and the rows that they are of.

        ShapeError for inputs of anything else.
        """
        if not isinstance(rows, Values):
            raise ShapeError(f"A network of vectors reads Values, but the batch has {type(rows).__name__}.")
        return (rows.values_BTD - self.mean_D) / self.deviation_D, rows
