"""Pooling: the annotations of a sequence become one vector; padding has no part in it.

mean       y = 1/n sum_t h_t                       dh_t = dy / n
max        y_i = max_t h_ti                        dh_ti = dy_i at the first maximum
attention  a = softmax_t(s), y = sum_t a_t h_t     dh_t = a_t dy, ds_t = a_t (dy . h_t - dy . y)
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import apply_derived


def mean_pool(h_BTM: Tensor, mask_BT: Tensor) -> Tensor:
    """Return the mean over the positions of ``mask_BT``, of which every row has at least one."""
    weights_BT = mask_BT.to(h_BTM.dtype) / mask_BT.sum(1, keepdim=True)

    def forward(recording: bool, h_BTM: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        return _sum(h_BTM * weights_BT.unsqueeze(-1)), ()

    def backward(saved: Sequence[Tensor], dy_BM: Tensor) -> tuple[Tensor]:
        return (weights_BT.unsqueeze(-1) * dy_BM.unsqueeze(1),)

    return apply_derived(forward, backward, h_BTM)


def max_pool(h_BTM: Tensor, mask_BT: Tensor) -> Tensor:
    """Return the maximum of each component over the positions of ``mask_BT``."""
    shape = h_BTM.shape

    def forward(recording: bool, h_BTM: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        y_BM, places_BM = h_BTM.masked_fill(~mask_BT.unsqueeze(-1), -torch.inf).max(1)
        return y_BM, (places_BM,)

    def backward(saved: Sequence[Tensor], dy_BM: Tensor) -> tuple[Tensor]:
        return (dy_BM.new_zeros(shape).scatter_(1, saved[0].unsqueeze(1), dy_BM.unsqueeze(1)),)

    return apply_derived(forward, backward, h_BTM)


def attention_pool(h_BTM: Tensor, scores_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Return the mean weighted by the softmax of the scores over the positions of ``mask_BT``."""

    def forward(recording: bool, h_BTM: Tensor, scores_BT: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        a_BT = torch.softmax(scores_BT.masked_fill(~mask_BT, -torch.inf), 1)
        y_BM = _sum(h_BTM * a_BT.unsqueeze(-1))
        return y_BM, (h_BTM, a_BT, y_BM)

    def backward(saved: Sequence[Tensor], dy_BM: Tensor) -> tuple[Tensor, Tensor]:
        h_BTM, a_BT, y_BM = saved
        ds_BT = a_BT * ((h_BTM - y_BM.unsqueeze(1)) * dy_BM.unsqueeze(1)).sum(-1)
        return a_BT.unsqueeze(-1) * dy_BM.unsqueeze(1), ds_BT

    return apply_derived(forward, backward, h_BTM, scores_BT)


def _sum(x_BTM: Tensor) -> Tensor:
    """Return the sum over T, step after step: the order of torch.sum depends on B, and so do its last bits."""
    return x_BTM.cumsum(1)[:, -1]
