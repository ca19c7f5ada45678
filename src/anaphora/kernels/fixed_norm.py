"""Vectors of one length (Nguyen and Chiang 2018, section 3), forward and back.

1  s = sqrt(x'x + eps),   n = x / s
2  y = r n

2'1'  dx = r / s (dy - (n'dy) n)

With word vectors and states of the norm r, the score of a word is r^2 times the cosine of the angle between the two, so
that no frequent word gains from a long vector.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from anaphora.kernels.compiled.loop import run_once
from anaphora.kernels.prepared import Weight, array_of, is_kept, state_of
from anaphora.kernels.runtime import current

if TYPE_CHECKING:
    from torch import Tensor

Block = TypeVar("Block", bound=Weight)

EPSILON = 1e-12
"""Keeps a row of zeros from being divided by zero."""


class FixedNorm(NamedTuple):
    """A norm of rows, arrays or tensors."""

    radius: float = 0.0
    """r; 0 leaves rows as they are."""
    first: int = 0
    """Width of the first block of a row, which has its own norm; 0 for one norm of the whole row."""

    def __call__(self, x: Block) -> Block:
        """Return rows at this norm; each has the same bits in any batch."""
        if not self.radius:
            return x
        if not isinstance(x, np.ndarray):
            return self._of_tensor(x)  # type: ignore[return-value]
        rows_1NW = np.ascontiguousarray(x).reshape(1, -1, x.shape[-1])
        found = np.empty_like(rows_1NW)
        run_once("fixed_norm_rows", [found], [rows_1NW, *(np.full((1, 1), number, np.float32) for number in self)])
        return found.reshape(x.shape)  # type: ignore[return-value]

    def _of_tensor(self, x: "Tensor") -> "Tensor":
        from torch import cat, split

        from anaphora.kernels.autograd_bridge import apply_derived

        blocks = split(x, [self.first, x.shape[-1] - self.first] if self.first else x.shape[-1], -1)
        return cat([apply_derived(self._forward, self._backward, block) for block in blocks], -1)

    def _forward(self, recording: bool, x: "Tensor") -> tuple["Tensor", Sequence["Tensor"]]:
        """Steps 1 and 2, in C where it can."""
        from torch import from_numpy

        whole = FixedNorm(self.radius)
        y = from_numpy(whole(array_of(x))) if current().native(x) else self._factor(x) * x
        return y, (x, y)

    def _backward(self, saved: Sequence["Tensor"], dy: "Tensor") -> Sequence["Tensor"]:
        """Steps 2 and 1 undone."""
        x, y = saved
        n = y / self.radius
        return [self._factor(x) * (dy - (n * dy).sum(-1, keepdim=True) * n)]

    def _factor(self, x: "Tensor") -> "Tensor":
        """Return r / s."""
        return self.radius * (x.square().sum(-1, keepdim=True) + EPSILON).rsqrt()

    def of_table(self, *blocks: "Tensor") -> "Tensor":
        """Return a table, or several side by side, at this norm; kept with the first while there is no gradient."""
        if not self.radius and len(blocks) == 1:
            return blocks[0]
        from torch import cat, inference_mode, is_grad_enabled
        from torch.nn import Parameter

        prepared, (table, *beside) = current().prepared, blocks
        if prepared is None or not is_kept(table) or is_grad_enabled():
            return self(cat(blocks, -1))

        def make() -> "Tensor":
            with inference_mode(False):  # prepared once for all steps
                return Parameter(self(cat([block.detach() for block in blocks], -1)), requires_grad=False)

        return prepared.keep(table, f"norm of {len(blocks)}", (self, *map(state_of, beside)), make)
