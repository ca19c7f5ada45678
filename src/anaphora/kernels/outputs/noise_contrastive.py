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

from anaphora.kernels.outputs.shared_words import shared_words_loss
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

    ``log_noise_V`` is ln(k q) of every word. Raises ShapeError where the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, weight_VH=weight_VH, bias_V=bias_V, targets_N=targets_N, log_noise_V=log_noise_V)
    check_shapes(words_C=words_C, times_C=times_C)

    def of_rows(z_NC: Tensor, z_N: Tensor, y_N: Tensor, w_N: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        d_NC, d_N = z_NC - log_noise_V[words_C], z_N - log_noise_V[y_N]  # 1
        losses_N = w_N * (functional.softplus(-d_N) + functional.softplus(d_NC) @ times_C)  # 2
        return losses_N, torch.sigmoid(d_NC) * times_C * w_N[:, None], -torch.sigmoid(-d_N) * w_N  # 2'

    return shared_words_loss(of_rows, (hidden_NH, weight_VH, bias_V), targets_N, words_C, weights_N)
