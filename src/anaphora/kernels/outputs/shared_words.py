"""Losses over a few words that all rows share and over each row's own target, and their gradients.

What sampled outputs have in common: of the V x H matrix they look at C chosen rows and at those of the targets.

    1  z_nc = w_c' h_n + b_c,       z_n = w_{y_n}' h_n + b_{y_n}
    2  L = sum_n w_n L_n(z_n1 .. z_nC, z_n)                             each loss has its own L_n
    1' dh_n = sum_c dz_nc w_c + dz_n w_{y_n}
       dw_c += sum_n dz_nc h_n,     dw_{y_n} += dz_n h_n,     db likewise
"""

from collections.abc import Callable

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.softmax import CHUNK, Gradients
from anaphora.kernels.tensor_backends import prepare

OfRows = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
"""Function from z_NC, z_N, targets and weights w of rows to w L, dz_NC and dz_N; it may overwrite z_NC."""


def shared_words_loss(
    of_rows: OfRows, leaves: tuple[Tensor, Tensor, Tensor], targets_N: Tensor, words_C: Tensor, weights_N: Tensor | None
) -> Tensor:
    """Return the summed loss of rows; ``leaves`` are h, W and b (of no elements for none), ``words_C`` distinct."""

    def derive(recording: bool, h_NH: Tensor, weight_VH: Tensor, bias_V: Tensor) -> tuple[Tensor, Gradients]:
        loss = torch.zeros((), dtype=torch.float64, device=h_NH.device)
        gradients = tuple(torch.zeros_like(leaf) for leaf in (h_NH, weight_VH, bias_V)) if recording else ()
        rows = max(8, CHUNK // max(1, len(words_C)))
        chosen = prepare(weight_VH[words_C])
        for start in range(0, len(targets_N), rows):
            h, y = h_NH[start : start + rows], targets_N[start : start + rows]
            own = weight_VH[y]
            z_NC, z_N = chosen.times(h), torch.linalg.vecdot(h, own)  # 1
            if bias_V.numel():
                z_NC, z_N = z_NC + bias_V[words_C], z_N + bias_V[y]
            w_N = torch.ones_like(z_N) if weights_N is None else weights_N[start : start + rows]
            losses_N, dz_NC, dz_N = of_rows(z_NC, z_N, y, w_N)
            loss += losses_N.sum(dtype=torch.float64)  # 2
            if not recording:
                continue
            dhidden_NH, dweight_VH, dbias_V = gradients
            dhidden_NH[start : start + rows] = torch.addcmul(chosen.back(dz_NC), dz_N[:, None], own)  # 1'
            dweight_VH.index_add_(0, words_C, chosen.outer(dz_NC, h))
            dweight_VH.index_add_(0, y, dz_N[:, None] * h)
            if bias_V.numel():
                dbias_V.index_add_(0, words_C, dz_NC.sum(0))
                dbias_V.index_add_(0, y, dz_N)
        return loss, gradients

    return derived_loss(derive, *leaves)
