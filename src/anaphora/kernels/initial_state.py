"""The state that a sequence starts from: a learned vector, or for some rows the state that others ended in.

1  s_b = m_b c_b + (1 - m_b) v     m_b is 1 for a row that continues a state c_b, v the learned vector
1' dv = sum_b (1 - m_b) ds_b, dc_b = m_b ds_b
"""

from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import once_differentiable, outside_autocast


def initial_state(learned_H: Tensor, carried_BH: Tensor, carry_mask_B: Tensor) -> Tensor:
    """The first state of each row, B x H: ``carried_BH`` where the mask is true, the learned vector elsewhere."""
    state_BH: Tensor = _Initial.apply(learned_H, carried_BH, carry_mask_B.unsqueeze(1))  # type: ignore[no-untyped-call]
    return state_BH


class _Initial(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, learned_H: Tensor, carried_BH: Tensor, mask_B1: Tensor) -> Tensor:
        ctx.save_for_backward(mask_B1)
        return torch.where(mask_B1, carried_BH, learned_H)  # 1

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dstate_BH: Tensor) -> tuple[Tensor | None, ...]:
        (mask_B1,) = ctx.saved_tensors
        return dstate_BH.masked_fill(mask_B1, 0).sum(0), dstate_BH.masked_fill(~mask_B1, 0), None  # 1'
