"""The softmax cross-entropy of one class a row: -w ln p(c), and its gradient w (p - [c])."""

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss


def class_loss(scores_BC: Tensor, classes_B: Tensor, weights_B: Tensor | None = None) -> Tensor:
    """The summed negative log-likelihood of ``classes_B`` in nats, each row counted ``weights_B`` times."""

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
