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

from anaphora.kernels.derived import derived_loss
from anaphora.kernels.outputs.shared_words import SharedWords
from anaphora.kernels.softmax import CHUNK, Gradients
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
    """The summed loss of telling ``targets_N`` from the distinct ``words_C``.

    ``log_drawn_V`` is ln Q of every word, one number for all where it has no elements; ``bias_V`` may have none.

    Raises:
        ShapeError: the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, weight_VH=weight_VH, targets_N=targets_N, words_C=words_C)

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, Gradients]:
        return _walk(recording, leaves, targets_N, words_C, log_drawn_V, weights_N)

    return derived_loss(derive, hidden_NH, weight_VH, bias_V)


def _walk(
    recording: bool,
    leaves: tuple[Tensor, ...],
    targets_N: Tensor,
    words_C: Tensor,
    log_drawn_V: Tensor,
    weights_N: Tensor | None,
) -> tuple[Tensor, Gradients]:
    hidden_NH = leaves[0]
    rows = max(8, CHUNK // max(1, len(words_C)))
    words = SharedWords(recording, leaves, words_C, rows)
    loss = torch.zeros((), dtype=torch.float64, device=hidden_NH.device)
    for start in range(0, len(targets_N), rows):
        h, y = hidden_NH[start : start + rows], targets_N[start : start + rows]
        z_NC, z_N = words.forward(h, y)  # 1
        if log_drawn_V.numel():
            z_NC, z_N = z_NC - log_drawn_V[words_C], z_N - log_drawn_V[y]
        z_NC = z_NC.masked_fill_(words_C == y[:, None], -torch.inf)  # y counts once
        top_N = torch.maximum(z_N, z_NC.amax(-1)) if len(words_C) else z_N
        q_NC, q_N = z_NC.sub_(top_N[:, None]).exp_(), (z_N - top_N).exp()
        s_N = q_NC.sum(-1) + q_N
        w_N = torch.ones_like(s_N) if weights_N is None else weights_N[start : start + rows]
        loss += (w_N * (s_N.log() + top_N - z_N)).sum(dtype=torch.float64)  # 2
        if recording:
            scale_N = w_N / s_N
            dz_NC = q_NC.mul_(scale_N[:, None])  # 2'
            words.backward(start, h, y, dz_NC, q_N * scale_N - w_N)  # 1'
    return loss, words.gradients
