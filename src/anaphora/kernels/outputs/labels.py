"""Independent yes-or-no labels: the summed cross-entropy of sigmoids, with its derived gradient.

1  L = sum_n sum_c log(1 + exp(z_c)) - y_c z_c          y_c is 1 where label c is set, else 0
1' dz_c = sigm(z_c) - y_c
"""

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.shapes import check_shapes


def label_loss(logits_NC: Tensor, labels_NC: Tensor, weights_N: Tensor | None = None) -> Tensor:
    """The summed -ln p of all labels, a scalar in nats; ``weights_N`` are factors of the rows, 1 where there are none.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(logits_NC=logits_NC, labels_NC=labels_NC)

    def derive(recording: bool, z_NC: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        weight = 1 if weights_N is None else weights_N.unsqueeze(1)
        loss = (weight * (functional.softplus(z_NC) - labels_NC * z_NC)).sum(dtype=torch.float64)  # 1
        return loss, (weight * (torch.sigmoid(z_NC) - labels_NC),) if recording else ()  # 1'

    return derived_loss(derive, logits_NC)
