"""A softmax over a few words that stand for all (Bengio and Senecal 2008; Jean et al. 2015, equations 8 to 10).

C is a set of words in which word v is with probability Q(v); the target y counts as one of them, whether drawn or not:

    1  z_v = w_v' h + b_v - ln Q(v)                          for v in C and for y
    2  L = log sum_{v in C or v = y} exp(z_v) - z_y
    2' dz_v = softmax(z)_v - 1_{v=y}                         over the same words
    1' dh = sum_v dz_v w_v,  dw_v += dz_v h,  db_v += dz_v

A word that is drawn rarely counts for so many more when it is. Where C is a partition of the corpus that holds all its
targets, each is drawn with the same probability, Q is left out, and L is a softmax over the partition.
"""

import torch
from torch import Tensor

from anaphora.kernels.outputs.shared_words import shared_words_loss
from anaphora.shapes import check_shapes


def sampled_softmax_loss(
    hidden_NH: Tensor,
    weight_VH: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    words_C: Tensor,
    log_drawn_V: Tensor,
    weights_N: Tensor | None = None,
) -> Tensor:
    """Return the summed loss of telling ``targets_N`` from the distinct ``words_C``.

    ``log_drawn_V`` is ln Q of every word, one number for all where it has no elements; ``bias_V`` may have none. Raises
    ShapeError where the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, weight_VH=weight_VH, targets_N=targets_N, words_C=words_C)

    def of_rows(z_NC: Tensor, z_N: Tensor, y_N: Tensor, w_N: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if log_drawn_V.numel():
            z_NC, z_N = z_NC - log_drawn_V[words_C], z_N - log_drawn_V[y_N]  # 1
        z_NC = z_NC.masked_fill_(words_C == y_N[:, None], -torch.inf)  # y counts once
        top_N = torch.maximum(z_N, z_NC.amax(-1)) if len(words_C) else z_N
        q_NC, q_N = z_NC.sub_(top_N[:, None]).exp_(), (z_N - top_N).exp()
        s_N = q_NC.sum(-1) + q_N
        scale_N = w_N / s_N
        losses_N = w_N * (s_N.log() + top_N - z_N)  # 2
        return losses_N, q_NC.mul_(scale_N[:, None]), q_N * scale_N - w_N  # 2'

    return shared_words_loss(of_rows, (hidden_NH, weight_VH, bias_V), targets_N, words_C, weights_N)
