"""Telling the right word from noise in the place of a softmax (Gutmann and Hyvarinen 2010; Mnih and Teh 2012).

exp(z_v) is taken for the probability of v as it is: what it should be divided by is fixed to 1, and learnt to be so.
k words are drawn from a noise distribution q, m_v of them the word v, and each is asked whether it is noise or right:

    1  z_v = w_v' h + b_v,   d_v = z_v - ln(k q_v)           p(right | v) = exp(z_v) / (exp(z_v) + k q_v) = sigm(d_v)
    2  L = -log sigm(d_y) - sum_v m_v log sigm(-d_v)
    2' dz_y = -sigm(-d_y),   dz_v = m_v sigm(d_v)
    1' dh = sum_v dz_v w_v + dz_y w_y, and dW and db with it

The more noise, the closer its gradient to that of the likelihood (Mnih and Teh 2012, equation 11). The noise is drawn
once for all rows: so its part is one product, where noise of every row's own would be as many gathered vectors.
"""

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.derived import derived_loss
from anaphora.kernels.outputs.shared_words import SharedWords
from anaphora.kernels.softmax import CHUNK, Gradients
from anaphora.shapes import check_shapes


def noise_contrastive_loss(
    hidden_NH: Tensor,
    weight_VH: Tensor,
    bias_V: Tensor,
    targets_N: Tensor,
    words_C: Tensor,
    times_C: Tensor,
    log_noise_V: Tensor,
    weights_N: Tensor | None = None,
) -> Tensor:
    """The summed loss of telling ``targets_N`` from noise, the distinct ``words_C`` drawn ``times_C`` times each.

    ``log_noise_V`` is ln(k q) of every word.

    Raises:
        ShapeError: the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, weight_VH=weight_VH, bias_V=bias_V, targets_N=targets_N, log_noise_V=log_noise_V)
    check_shapes(words_C=words_C, times_C=times_C)

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, Gradients]:
        return _walk(recording, leaves, targets_N, words_C, times_C, log_noise_V, weights_N)

    return derived_loss(derive, hidden_NH, weight_VH, bias_V)


def _walk(
    recording: bool,
    leaves: tuple[Tensor, ...],
    targets_N: Tensor,
    words_C: Tensor,
    times_C: Tensor,
    log_noise_V: Tensor,
    weights_N: Tensor | None,
) -> tuple[Tensor, Gradients]:
    hidden_NH = leaves[0]
    rows = max(8, CHUNK // max(1, len(words_C)))
    words = SharedWords(recording, leaves, words_C, rows)
    loss = torch.zeros((), dtype=torch.float64, device=hidden_NH.device)
    for start in range(0, len(targets_N), rows):
        h, y = hidden_NH[start : start + rows], targets_N[start : start + rows]
        z_NC, z_N = words.forward(h, y)  # 1
        d_NC, d_N = z_NC - log_noise_V[words_C], z_N - log_noise_V[y]
        w_N = torch.ones_like(d_N) if weights_N is None else weights_N[start : start + rows]
        of_noise_N = functional.softplus(d_NC) @ times_C
        loss += (w_N * (functional.softplus(-d_N) + of_noise_N)).sum(dtype=torch.float64)  # 2
        if recording:
            dz_NC = torch.sigmoid(d_NC) * times_C * w_N[:, None]  # 2'
            words.backward(start, h, y, dz_NC, -torch.sigmoid(-d_N) * w_N)  # 1'
    return loss, words.gradients
