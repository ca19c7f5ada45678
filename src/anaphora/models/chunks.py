"""A chunk of running text, with what is carried from the one before it.

That is the state at its end. Where losses go back over k steps, into the chunk before too, the last k ids are carried
as well, and the state before them: the next chunk takes these steps again, with the weights of then, as its context.
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
    """The steps to take."""

    ids_TB: Tensor
    """Those of the context, then those of the batch."""
    lengths_B: Tensor
    """Steps of each row, with the context."""
    first: Carry | None
    """The state before them; None where nothing was carried."""
    context: int
    """How many of the steps were taken before, and have no loss here."""

    @classmethod
    def after(cls, carry: Carry | None, batch: Batch, back: int) -> Self:
        """The chunk of ``batch`` after ``carry``, which older checkpoints have without a context.

        There is a context where gradients are wanted and go back over ``back`` steps, and every row is carried on.
        """
        ids_TB, lengths_B = batch.input_ids.ids_BT.T, batch.input_ids.lengths_B
        if not carry:
            return cls(ids_TB, lengths_B, None, 0)
        if back and _IDS in carry and torch.is_grad_enabled() and bool(batch.carry_mask_B.all()):
            earlier = {name.removeprefix(_EARLIER): h for name, h in carry.items() if name.startswith(_EARLIER)}
            context_CB = carry[_IDS].T
            context = len(context_CB)
            return cls(torch.cat([context_CB, ids_TB]), lengths_B + context, earlier, context)
        mask_B1 = batch.carry_mask_B.unsqueeze(1)
        state = {name: h for name, h in carry.items() if name != _IDS and not name.startswith(_EARLIER)}
        return cls(ids_TB, lengths_B, {name: h_BH.where(mask_B1, 0) for name, h_BH in state.items()}, 0)

    def carried(self, scanned: Windows, back: int) -> Carry:
        """What the next chunk begins with: the detached state, and with gradients over ``back`` steps a context."""
        state = {name: h_BH.detach() for name, h_BH in scanned.state.items()}
        if not back or not scanned.earlier or int(self.lengths_B.min()) < len(self.ids_TB):
            return state
        earlier = {_EARLIER + name: h_BH for name, h_BH in scanned.earlier.items()}
        return state | earlier | {_IDS: self.ids_TB[-back:].T.contiguous()}
