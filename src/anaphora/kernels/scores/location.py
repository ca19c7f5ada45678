"""e = W_a h: a score for every place in a sentence, whatever stands there (Luong, Pham and Manning 2015, section 3.1).

W_a has a row for each of the first L places. What a sentence has after them is never looked at, as in the paper; a
shorter sentence has no use for the last rows.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field
from torch import Tensor
from torch.nn import functional

from anaphora.config import MAX_LENGTH
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.scores.score import Score


class Location(Score):
    """The score that knows the query and the place alone."""

    kind: Literal["location"] = "location"
    max_length: int = Field(128, ge=1, le=MAX_LENGTH)
    """Number of positions that have a score, counted from the start of a sentence; none after them is looked at."""

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """W_a, L x Q."""
        return {"places": (self.max_length, query)}

    def width(self, query: int, hidden: int) -> int:
        """Q."""
        return query

    def reach(self, lengths_B: Tensor) -> Tensor:
        """At most L."""
        return lengths_B.clamp(max=self.max_length)

    def prepare(self, memory_BSM: Tensor, lengths_B: Tensor, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Nothing: what stands at a position has no part in it."""
        return {}

    def forward(self, query_XBQ: Tensor, beside: tuple[Tensor, ...], matmul: PartMatmuls) -> tuple[Tensor, None]:
        """The scores e = W_a h, as wide as the memory."""
        positions = matmul.sentences("closed", 1).shape[-1]
        return functional.pad(matmul("places", query_XBQ), (0, positions - self.max_length)), None

    def backward(self, saved: None, de_XBS: Tensor, matmul: PartMatmuls) -> tuple[Tensor, ...]:
        """dh = W_a' de, with nothing for the places that this batch has not."""
        return (matmul.back("places", functional.pad(de_XBS, (0, self.max_length - de_XBS.shape[-1]))),)
