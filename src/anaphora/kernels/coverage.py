"""The doubly stochastic penalty: what attention costs that leaves positions out, or returns to them.

(Xu et al. 2015, equation 14.) For the attention weights a_{t,b,s} of the T_b steps of row b, over its S_b positions,
each row weighted by w_b,

    1  L  = sum_b w_b sum_{s <= S_b} (1 - sum_{t <= T_b} a_{t,b,s})^2
    1' da_{t,b,s} = -2 w_b (1 - sum_t a_{t,b,s}), 0 past the last step and past the last position
"""

import torch
from torch import Tensor

from anaphora.kernels.derived import derived_loss
from anaphora.shapes import check_shapes


def doubly_stochastic(
    weights_TBS: Tensor, lengths_B: Tensor, memory_lengths_B: Tensor, weights_B: Tensor | None = None
) -> Tensor:
    """The summed penalty, a scalar; rows count once without ``weights_B``.

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
        loss = (w_B1 * missed_BS * missed_BS).sum(dtype=torch.float64)  # 1
        if not recording:
            return loss, ()
        return loss, (torch.where(open_TBS, -2 * w_B1 * missed_BS, 0),)  # 1'

    return derived_loss(derive, weights_TBS)
