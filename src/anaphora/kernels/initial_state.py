"""The state that a sequence starts from: a learned vector, or for some rows the state that others ended in.

1  s_b = m_b c_b + (1 - m_b) v     m_b is 1 for a row that continues a state c_b, v the learned vector
1' dv = sum_b (1 - m_b) ds_b, dc_b = m_b ds_b
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import apply_derived


def initial_state(learned_H: Tensor, carried_BH: Tensor, carry_mask_B: Tensor) -> Tensor:
    """The first state of each row, B x H: ``carried_BH`` where the mask is true, the learned vector elsewhere."""
    mask_B1 = carry_mask_B.unsqueeze(1)

    def forward(recording: bool, learned_H: Tensor, carried_BH: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        return torch.where(mask_B1, carried_BH, learned_H), ()  # 1

    def backward(saved: Sequence[Tensor], dstate_BH: Tensor) -> tuple[Tensor, Tensor]:
        return dstate_BH.masked_fill(mask_B1, 0).sum(0), dstate_BH.masked_fill(~mask_B1, 0)  # 1'

    return apply_derived(forward, backward, learned_H, carried_BH)
