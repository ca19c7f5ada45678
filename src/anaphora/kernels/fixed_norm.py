"""Vectors of one length (Nguyen and Chiang 2018, section 3), forward and back.

1  s = sqrt(x'x + eps),   n = x / s
2  y = r n

2'1'  dx = r / s (dy - (n'dy) n)

With word vectors and states of the norm r, the score of a word is r^2 times the cosine of the angle between the two, so
that no frequent word gains from a long vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anaphora.kernels.compiled.loop import run_once
from anaphora.kernels.prepared import Weight, array_of, is_kept, state_of
from anaphora.kernels.runtime import current

if TYPE_CHECKING:
    from torch import Tensor

EPSILON = 1e-12
"""Keeps a row of zeros from being divided by zero."""


@dataclass(frozen=True)
class FixedNorm:
    """A norm of the rows of blocks, arrays or tensors."""

    radius: float = 0.0
    """r; 0 leaves rows as they are."""
    first: int = 0
    """Width of the first block of a row, which has a norm of its own; 0 for one norm of the whole row."""

    def __call__(self, x: Any) -> Any:
        """Return rows at this norm; each has the same bits in any batch."""
        if not self.radius:
            return x
        if not isinstance(x, np.ndarray):
            return self._of_tensor(x)
        rows_1NW = np.ascontiguousarray(x).reshape(1, -1, x.shape[-1])
        found = np.empty_like(rows_1NW)
        numbers = [np.full((1, 1), number, np.float32) for number in (self.radius, self.first)]
        run_once("fixed_norm_rows", [found], [rows_1NW, *numbers])
        return found.reshape(x.shape)

    def _of_tensor(self, x: "Tensor") -> "Tensor":
        import torch

        from anaphora.kernels.autograd_bridge import apply_derived

        blocks = torch.split(x, [self.first, x.shape[-1] - self.first] if self.first else x.shape[-1], -1)
        return torch.cat([apply_derived(self._forward, self._backward, block) for block in blocks], -1)

    def _forward(self, recording: bool, x: "Tensor") -> tuple["Tensor", Sequence["Tensor"]]:
        """Steps 1 and 2, in C where it can."""
        import torch

        whole = FixedNorm(self.radius)
        y = torch.from_numpy(whole(array_of(x))) if current().native(x) else self.radius / _length(x) * x
        return y, (x, y)

    def _backward(self, saved: Sequence["Tensor"], dy: "Tensor") -> Sequence["Tensor"]:
        """Steps 2 and 1 undone."""
        x, y = saved
        n = y / self.radius
        return [self.radius / _length(x) * (dy - (n * dy).sum(-1, keepdim=True) * n)]

    def of_table(self, table: Weight, *beside: Weight) -> Any:
        """Return the rows of a table of weights, tensors with others ``beside``, at this norm.

        It is kept with the table while there is no gradient.
        """
        if not self.radius and not beside:
            return table
        import torch
        from torch.nn import Parameter

        blocks = cast("list[Tensor]", [table, *beside])
        runtime = current()
        if runtime.prepared is None or not is_kept(table) or torch.is_grad_enabled():
            return self(torch.cat(blocks, -1))

        def make() -> Parameter:
            with torch.inference_mode(False):  # prepared once for all steps
                return Parameter(self(torch.cat([block.detach() for block in blocks], -1)), requires_grad=False)

        return runtime.prepared.keep(table, "norm", (self, *map(state_of, beside)), make)


def _length(x: "Tensor") -> "Tensor":
    """s of step 1."""
    return (x.square().sum(-1, keepdim=True) + EPSILON).sqrt()
