"""The squared error of real vectors, with its derived gradient.

1  L  = sum_n w_n sum_d (y_nd - x_nd)^2 / 2         -ln p of Gaussians of variance 1, but for a constant
1' dy = w (y - x)
"""

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.shapes import check_shapes


def squared_error(outputs_ND: Tensor, targets_ND: Tensor, weights_N: Tensor | None = None) -> Tensor:
    """Half the summed squared error, a scalar; ``weights_N`` are factors of the rows, 1 where there are none.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(outputs_ND=outputs_ND, targets_ND=targets_ND)

    def derive(recording: bool, outputs_ND: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        error_ND = outputs_ND - targets_ND
        weighted_ND = error_ND if weights_N is None else error_ND * weights_N.unsqueeze(1)
        return 0.5 * (weighted_ND * error_ND).sum(dtype=torch.float64), (weighted_ND,) if recording else ()  # 1, 1'

    return derived_loss(derive, outputs_ND)
