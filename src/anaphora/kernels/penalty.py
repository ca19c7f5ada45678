"""Penalty of large and restless states (Merity, Keskar and Socher 2018, section 4.6).

For B rows of T_b states s of H numbers, each row weighted by w_b,

    1  L  = 1/H sum_b w_b sum_{t=1}^{T_b} |s_t|^2            activation regularisation
    1' ds_t = 2/H w_b s_t
    2  L  = 1/H sum_b w_b sum_{t=2}^{T_b} |s_t - s_{t-1}|^2  temporal activation regularisation
    2' d_t = 2/H w_b (s_t - s_{t-1}), 0 outside 2 .. T_b;  ds_t = d_t - d_{t+1}

What lies past the end of a row is never looked at.
"""

import torch
from torch import Tensor

from anaphora.kernels.derived import derived_loss
from anaphora.shapes import check_shapes


def size_penalty(states_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor | None = None) -> Tensor:
    """The summed mean square of every state, a scalar; rows count once without weights.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(states_TBH=states_TBH, lengths_B=lengths_B)

    def derive(recording: bool, states_TBH: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        loss, dstates_TBH = _squares(states_TBH, lengths_B, weights_B)  # 1, 1'
        return loss, (dstates_TBH,) if recording else ()

    return derived_loss(derive, states_TBH)


def change_penalty(states_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor | None = None) -> Tensor:
    """The summed mean square of every state's difference from the one before it: see ``size_penalty``."""
    check_shapes(states_TBH=states_TBH, lengths_B=lengths_B)

    def derive(recording: bool, states_TBH: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        loss, d_TBH = _squares(states_TBH[1:] - states_TBH[:-1], lengths_B - 1, weights_B)  # 2
        if not recording:
            return loss, ()
        dstates_TBH = torch.zeros_like(states_TBH)
        dstates_TBH[1:] += d_TBH
        dstates_TBH[:-1] -= d_TBH
        return loss, (dstates_TBH,)  # 2'

    return derived_loss(derive, states_TBH)


def _squares(x_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor | None) -> tuple[Tensor, Tensor]:
    """1/H sum_b w_b sum_t |x_t|^2 over the steps of each row, and its gradient."""
    steps, rows, width = x_TBH.shape
    open_TB = torch.arange(steps, device=x_TBH.device).unsqueeze(1) < lengths_B.to(x_TBH.device)
    w_B1 = x_TBH.new_ones(rows, 1) if weights_B is None else weights_B.to(x_TBH).unsqueeze(1)
    x_TBH = x_TBH.where(open_TB.unsqueeze(2), 0)
    dx_TBH = x_TBH * (2 / width * w_B1)
    return (x_TBH * dx_TBH).sum(dtype=torch.float64) / 2, dx_TBH
