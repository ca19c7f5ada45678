"""Pooling: the annotations of a sequence become one vector; padding has no part in it.

mean       y = 1/n sum_t h_t                       dh_t = dy / n
max        y_i = max_t h_ti                        dh_ti = dy_i at the first maximum
attention  a = softmax_t(s), y = sum_t a_t h_t     dh_t = a_t dy, ds_t = a_t (dy . h_t - dy . y)
"""

from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import once_differentiable, outside_autocast


def mean_pooled(h_BTM: Tensor, mask_BT: Tensor) -> Tensor:
    """The mean over the positions of ``mask_BT``, of which every row has at least one."""
    weights_BT = mask_BT.to(h_BTM.dtype) / mask_BT.sum(1, keepdim=True)
    return weighted_sum(h_BTM, weights_BT)


def weighted_sum(h_BTM: Tensor, weights_BT: Tensor) -> Tensor:
    """The sum over positions with constant weights."""
    y_BM: Tensor = _Weighted.apply(h_BTM, weights_BT)  # type: ignore[no-untyped-call]
    return y_BM


def max_pooled(h_BTM: Tensor, mask_BT: Tensor) -> Tensor:
    """The maximum of each component over the positions of ``mask_BT``."""
    y_BM: Tensor = _Max.apply(h_BTM, mask_BT)  # type: ignore[no-untyped-call]
    return y_BM


def attention_pooled(h_BTM: Tensor, scores_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """The mean weighted by the softmax of the scores over the positions of ``mask_BT``."""
    y_BM: Tensor = _Attention.apply(h_BTM, scores_BT, mask_BT)  # type: ignore[no-untyped-call]
    return y_BM


def _summed(x_BTM: Tensor) -> Tensor:
    """The sum over T, step after step: the order of torch.sum depends on B, and so do its last bits."""
    return x_BTM.cumsum(1)[:, -1]


class _Weighted(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, h_BTM: Tensor, weights_BT: Tensor) -> Tensor:
        ctx.save_for_backward(weights_BT)
        return _summed(h_BTM * weights_BT.unsqueeze(-1))

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dy_BM: Tensor) -> tuple[Tensor | None, ...]:
        (weights_BT,) = ctx.saved_tensors
        return weights_BT.unsqueeze(-1) * dy_BM.unsqueeze(1), None


class _Max(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, h_BTM: Tensor, mask_BT: Tensor) -> Tensor:
        y_BM, places_BM = h_BTM.masked_fill(~mask_BT.unsqueeze(-1), -torch.inf).max(1)
        ctx.save_for_backward(places_BM)
        ctx.shape = h_BTM.shape
        return y_BM

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dy_BM: Tensor) -> tuple[Tensor | None, ...]:
        (places_BM,) = ctx.saved_tensors
        return dy_BM.new_zeros(ctx.shape).scatter_(1, places_BM.unsqueeze(1), dy_BM.unsqueeze(1)), None


class _Attention(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(ctx: Any, h_BTM: Tensor, scores_BT: Tensor, mask_BT: Tensor) -> Tensor:
        a_BT = torch.softmax(scores_BT.masked_fill(~mask_BT, -torch.inf), 1)
        y_BM = _summed(h_BTM * a_BT.unsqueeze(-1))
        ctx.save_for_backward(h_BTM, a_BT, y_BM)
        return y_BM

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, dy_BM: Tensor) -> tuple[Tensor | None, ...]:
        h_BTM, a_BT, y_BM = ctx.saved_tensors
        ds_BT = a_BT * ((h_BTM - y_BM.unsqueeze(1)) * dy_BM.unsqueeze(1)).sum(-1)
        return a_BT.unsqueeze(-1) * dy_BM.unsqueeze(1), ds_BT, None
