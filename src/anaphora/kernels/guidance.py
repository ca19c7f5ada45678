"""The cost of looking elsewhere than given word alignments say (Chen, Matusov, Khadivi and Peter 2016, equation 4).

For the attention weights a_{t,s} of each step and the shares A_{t,s} that its links give to each position,

    1  L  = - sum_{t,s} A_{t,s} ln a_{t,s}
    1' da = - A / a

A weight too small for its reciprocal counts as the least that is not, and has no gradient there. Where A is 0, as for
words without links and for padding, nothing is looked at.
"""

import torch
from torch import Tensor

from anaphora.kernels.derived import derived_loss
from anaphora.kernels.softmax import Gradients
from anaphora.shapes import check_shapes


def guidance(weights_TBS: Tensor, links_TBS: Tensor) -> Tensor:
    """The summed cross-entropy, a scalar in nats, between ``links_TBS`` (shares, not below 0) and attention.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(weights_TBS=weights_TBS, links_TBS=links_TBS)

    def derive(recording: bool, weights_TBS: Tensor) -> tuple[Tensor, Gradients]:
        linked_L = links_TBS.nonzero(as_tuple=True)
        a_L, shares_L = weights_TBS[linked_L], links_TBS[linked_L].to(weights_TBS)
        least = torch.finfo(a_L.dtype).tiny
        loss = -(shares_L * a_L.clamp_min(least).log()).sum(dtype=torch.float64)  # 1
        if not recording:
            return loss, ()
        da_L = torch.where(a_L < least, 0, -shares_L / a_L.clamp_min(least))  # 1'
        return loss, (torch.zeros_like(weights_TBS).index_put_(linked_L, da_L),)

    return derived_loss(derive, weights_TBS)
