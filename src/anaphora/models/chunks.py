"""A chunk of running text, with the state carried from the one before it.

If losses reach k steps back into the chunk before, the last k ids and the state before them are carried too: the next
chunk computes these steps again as its context, with its own weights.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.kernels.truncation import Windows
from anaphora.protocols import Carry

_IDS, _EARLIER = "context", "earlier."


@dataclass(frozen=True)
class Chunk:
    """The steps of a chunk and of its context."""

    ids_TB: Tensor
    """Those of the context, then those of the batch; T steps of both."""
    lengths_B: Tensor
    """Steps of each row, with the context."""
    first: Carry | None
    """The state before them, also of rows that do not continue; None where nothing was carried."""
    context: int
    """Number of steps at the beginning that have no loss."""

    @classmethod
    def after(cls, carry: Carry | None, batch: Batch, back: int) -> Self:
        """The chunk of ``batch`` after ``carry``, in which older checkpoints have no context.

        A chunk has a context if gradients are computed and go back over ``back`` > 0 steps, and every row continues.
        """
        ids_TB, lengths_B = batch.input_ids.ids_BT.T, batch.input_ids.lengths_B
        if not carry:
            return cls(ids_TB, lengths_B, None, 0)
        if back and _IDS in carry and torch.is_grad_enabled() and bool(batch.carry_mask_B.all()):
            earlier = {name.removeprefix(_EARLIER): h for name, h in carry.items() if name.startswith(_EARLIER)}
            context_CB = carry[_IDS].T
            context = len(context_CB)
            return cls(torch.cat([context_CB, ids_TB]), lengths_B + context, earlier, context)
        state = {name: h_BH for name, h_BH in carry.items() if name != _IDS and not name.startswith(_EARLIER)}
        return cls(ids_TB, lengths_B, state, 0)

    def carried(self, scanned: Windows, back: int) -> Carry:
        """The carry: the detached state; with gradients over ``back`` steps, also the context of the next chunk."""
        state = {name: h_BH.detach() for name, h_BH in scanned.state.items()}
        if not back or not scanned.earlier or int(self.lengths_B.min()) < len(self.ids_TB):
            return state
        earlier = {_EARLIER + name: h_BH for name, h_BH in scanned.earlier.items()}
        return state | earlier | {_IDS: self.ids_TB[-back:].T.contiguous()}
