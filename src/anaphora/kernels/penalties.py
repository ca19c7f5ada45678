"""Penalties beside the loss of the outputs: for large and restless states, and for where attention looks.

States (Merity, Keskar and Socher 2018, section 4.6), for B rows of T_b states s of H numbers, each row weighted by w_b:

    1  L  = 1/H sum_b w_b sum_{t=1}^{T_b} |s_t|^2            activation regularisation
    1' ds_t = 2/H w_b s_t
    2  L  = 1/H sum_b w_b sum_{t=2}^{T_b} |s_t - s_{t-1}|^2  temporal activation regularisation
    2' d_t = 2/H w_b (s_t - s_{t-1}), 0 outside 2 .. T_b;  ds_t = d_t - d_{t+1}

Attention that leaves positions out, or returns to them (Xu et al. 2015, equation 14: doubly stochastic), for the
weights a_{t,b,s} of the T_b steps of row b, over its S_b positions:

    3  L  = sum_b w_b sum_{s <= S_b} (1 - sum_{t <= T_b} a_{t,b,s})^2
    3' da_{t,b,s} = -2 w_b (1 - sum_t a_{t,b,s}), 0 past the last step and past the last position

Attention that looks elsewhere than given word alignments say (Chen, Matusov, Khadivi and Peter 2016, equation 4), for
the weights a_{t,s} of each step and the fractions A_{t,s} that its links give to each position:

    4  L  = - sum_{t,s} A_{t,s} ln a_{t,s}
    4' da = - A / a

In 4, a weight too small for its reciprocal counts as the least that is not, and has no gradient there. Where A is 0, as
for words without links and for padding, nothing is looked at. In no loss is what lies past the end of a row looked at.
"""

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.softmax import Gradients
from anaphora.shapes import check_shapes


def size_penalty(states_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor | None = None) -> Tensor:
    """Return the summed mean square of every state, a scalar; rows count once without weights.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(states_TBH=states_TBH, lengths_B=lengths_B)

    def derive(recording: bool, states_TBH: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        loss, dstates_TBH = _squares(states_TBH, lengths_B, weights_B)  # 1, 1'
        return loss, (dstates_TBH,) if recording else ()

    return derived_loss(derive, states_TBH)


def change_penalty(states_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor | None = None) -> Tensor:
    """Return the summed mean square of every state's difference from the one before it: see ``size_penalty``."""
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


def doubly_stochastic(
    weights_TBS: Tensor, lengths_B: Tensor, memory_lengths_B: Tensor, weights_B: Tensor | None = None
) -> Tensor:
    """Return the summed penalty, a scalar; rows count once without ``weights_B``.

    Args:
        weights_TBS: attention weights; what lies past the steps or the positions of a row is never looked at.
        lengths_B: the steps of each row.
        memory_lengths_B: the positions of each row.
        weights_B: how often each row counts.

    Raises:
        ShapeError: the sizes do not agree.
    """
    check_shapes(weights_TBS=weights_TBS, lengths_B=lengths_B, memory_lengths_B=memory_lengths_B)

    def derive(recording: bool, weights_TBS: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        steps, rows, positions = weights_TBS.shape
        place = weights_TBS.device
        steps_TB = torch.arange(steps, device=place).unsqueeze(1) < lengths_B.to(place)
        positions_BS = torch.arange(positions, device=place) < memory_lengths_B.to(place).unsqueeze(1)
        open_TBS = steps_TB.unsqueeze(2) & positions_BS
        w_B1 = weights_TBS.new_ones(rows, 1) if weights_B is None else weights_B.to(weights_TBS).unsqueeze(1)
        missed_BS = torch.where(positions_BS, 1 - weights_TBS.where(open_TBS, 0).sum(0), 0)
        loss = (w_B1 * missed_BS * missed_BS).sum(dtype=torch.float64)  # 3
        if not recording:
            return loss, ()
        return loss, (torch.where(open_TBS, -2 * w_B1 * missed_BS, 0),)  # 3'

    return derived_loss(derive, weights_TBS)


def guidance(weights_TBS: Tensor, links_TBS: Tensor) -> Tensor:
    """Return the summed cross-entropy, a scalar in nats, between ``links_TBS`` (fractions, not below 0) and attention.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(weights_TBS=weights_TBS, links_TBS=links_TBS)

    def derive(recording: bool, weights_TBS: Tensor) -> tuple[Tensor, Gradients]:
        linked_L = links_TBS.nonzero(as_tuple=True)
        a_L, fractions_L = weights_TBS[linked_L], links_TBS[linked_L].to(weights_TBS)
        least = torch.finfo(a_L.dtype).tiny
        loss = -(fractions_L * a_L.clamp_min(least).log()).sum(dtype=torch.float64)  # 4
        if not recording:
            return loss, ()
        da_L = torch.where(a_L < least, 0, -fractions_L / a_L.clamp_min(least))  # 4'
        return loss, (torch.zeros_like(weights_TBS).index_put_(linked_L, da_L),)

    return derived_loss(derive, weights_TBS)


def _squares(x_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor | None) -> tuple[Tensor, Tensor]:
    """1/H sum_b w_b sum_t |x_t|^2 over the steps of each row, and its gradient."""
    steps, rows, width = x_TBH.shape
    open_TB = torch.arange(steps, device=x_TBH.device).unsqueeze(1) < lengths_B.to(x_TBH.device)
    w_B1 = x_TBH.new_ones(rows, 1) if weights_B is None else weights_B.to(x_TBH).unsqueeze(1)
    x_TBH = x_TBH.where(open_TB.unsqueeze(2), 0)
    dx_TBH = x_TBH * (2 / width * w_B1)
    return (x_TBH * dx_TBH).sum(dtype=torch.float64) / 2, dx_TBH
