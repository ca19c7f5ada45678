"""The products of states with a few words that all rows share and with each row's own target, and their gradients.

What sampled outputs have in common: of the V x H matrix they look at C chosen rows and at those of the targets.
"""

import torch
from torch import Tensor

from anaphora.kernels.arithmetic import prepare


class SharedWords:
    """z of chosen words and of targets for a chunk of rows at a time, and dh, dW and db added up on the way.

    1  z_nc = w_c' h_n + b_c,       z_n = w_{y_n}' h_n + b_{y_n}
    1' dh_n = sum_c dz_nc w_c + dz_n w_{y_n}
       dw_c += sum_n dz_nc h_n,     dw_{y_n} += dz_n h_n,     db likewise
    """

    def __init__(self, recording: bool, leaves: tuple[Tensor, ...], words_C: Tensor, rows: int) -> None:
        """``leaves``: hidden_NH, weight_VH and bias_V (of no elements for none); ``words_C`` are distinct."""
        _, self._weight_VH, self._bias_V = leaves
        self._words_C = words_C
        self._weight = prepare(self._weight_VH[words_C], rows)
        self.gradients = tuple(torch.zeros_like(leaf) for leaf in leaves) if recording else ()
        """dh, dW and db so far; nothing where they are not wanted."""

    def forward(self, h_NH: Tensor, targets_N: Tensor) -> tuple[Tensor, Tensor]:
        """Step 1: z of the chosen words, N x C, and of the targets, N."""
        z_NC, z_N = self._weight.times(h_NH), torch.linalg.vecdot(h_NH, self._weight_VH[targets_N])
        if self._bias_V.numel():
            z_NC, z_N = z_NC + self._bias_V[self._words_C], z_N + self._bias_V[targets_N]
        return z_NC, z_N

    def backward(self, start: int, h_NH: Tensor, targets_N: Tensor, dz_NC: Tensor, dz_N: Tensor) -> None:
        """Step 1' for the rows from ``start`` on."""
        dhidden_NH, dweight_VH, dbias_V = self.gradients
        dhidden_NH[start : start + len(h_NH)] = torch.addcmul(
            self._weight.back(dz_NC), dz_N[:, None], self._weight_VH[targets_N]
        )
        dweight_VH.index_add_(0, self._words_C, self._weight.outer(dz_NC, h_NH))
        dweight_VH.index_add_(0, targets_N, dz_N[:, None] * h_NH)
        if self._bias_V.numel():
            dbias_V.index_add_(0, self._words_C, dz_NC.sum(0))
            dbias_V.index_add_(0, targets_N, dz_N)
