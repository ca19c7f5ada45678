"""Losses of few outputs, each with its derived gradient: one class, yes-or-no labels, real vectors.

Classes                1  L   = - w ln p(c)
                       1' dz  = w (p - [c])
Labels                 2  L   = sum_n w_n sum_c log(1 + exp(z_c)) - y_c z_c       y_c is 1 where label c is set, else 0
                       2' dz_c = w (sigm(z_c) - y_c)
Squared error          3  L   = sum_n w_n sum_d (y_nd - x_nd)^2 / 2
                       3' dy  = w (y - x)
"""

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.shapes import check_shapes


def class_loss(scores_BC: Tensor, classes_B: Tensor, weights_B: Tensor | None = None) -> Tensor:
    """Return the summed negative log-likelihood of ``classes_B`` in nats, each row counted ``weights_B`` times."""

    def derive(wanted: bool, scores_BC: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        log_probs_BC = torch.log_softmax(scores_BC, 1)
        factor_B = torch.ones_like(log_probs_BC[:, 0]) if weights_B is None else weights_B.to(log_probs_BC.dtype)
        nats_B = -log_probs_BC.gather(1, classes_B.unsqueeze(1)).squeeze(1)
        loss = (nats_B * factor_B).sum()
        if not wanted:
            return loss, ()
        dscores_BC = log_probs_BC.exp()
        dscores_BC.scatter_add_(1, classes_B.unsqueeze(1), -torch.ones_like(nats_B).unsqueeze(1))
        return loss, (dscores_BC * factor_B.unsqueeze(1),)

    return derived_loss(derive, scores_BC)


def label_loss(logits_NC: Tensor, labels_NC: Tensor, weights_N: Tensor | None = None) -> Tensor:
    """The summed -ln p of all labels, a scalar in nats; ``weights_N`` are factors of the rows, 1 where there are none.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(logits_NC=logits_NC, labels_NC=labels_NC)

    def derive(recording: bool, z_NC: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        weight = 1 if weights_N is None else weights_N.unsqueeze(1)
        loss = (weight * (functional.softplus(z_NC) - labels_NC * z_NC)).sum(dtype=torch.float64)  # 2
        return loss, (weight * (torch.sigmoid(z_NC) - labels_NC),) if recording else ()  # 2'

    return derived_loss(derive, logits_NC)


def squared_error(outputs_ND: Tensor, targets_ND: Tensor, weights_N: Tensor | None = None) -> Tensor:
    """Half the summed squared error, a scalar; ``weights_N`` are factors of the rows, 1 where there are none.

    It is -ln p of Gaussians of variance 1, but for a constant. Raises ShapeError where the sizes do not agree.
    """
    check_shapes(outputs_ND=outputs_ND, targets_ND=targets_ND)

    def derive(recording: bool, outputs_ND: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        error_ND = outputs_ND - targets_ND
        weighted_ND = error_ND if weights_N is None else error_ND * weights_N.unsqueeze(1)
        return 0.5 * (weighted_ND * error_ND).sum(dtype=torch.float64), (weighted_ND,) if recording else ()  # 3, 3'

    return derived_loss(derive, outputs_ND)
