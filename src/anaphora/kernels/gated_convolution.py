"""The gated recursive convolution (Cho et al. 2014b, section 2.2): a sentence folded level by level to one vector.

A level has one position less than the level below, its children; from a child l and its right neighbour r:

    1  p = [W_l; W_r; G_l; G_r] h                       for every child, once
    2  t = tanh(W_l l + W_r r + b)                      what the two make together
    3  w = softmax(G_l l + G_r r + d)                   three weights: w_t, w_l, w_r
    4  h = w_t t + w_l l + w_r r                        the parent

A sentence of L positions is folded L - 1 times. Inside, sentences are sorted by length, so that one leaves when it is
folded up; a shorter one's positions past its end are carried along as zeros and never reach its vector.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import apply_derived
from anaphora.kernels.convolution import columns_of
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.pointwise import tanh_back_

CHOICES = 3
"""Choices of a parent: something new, its left child, its right child."""


class _Level(NamedTuple):
    """Values of one level, saved for the backward pass."""

    h: Tensor
    """The children, n x B x H; B are the sentences that are not folded up yet."""
    t: Tensor
    """Combination of two neighbours, n-1 x B x H."""
    w: Tensor
    """The weights, n-1 x B x 3."""


def gated_convolution(h_SBH: Tensor, weight_NH: Tensor, bias_C: Tensor, lengths_B: Tensor) -> Tensor:
    """Return the one vector (B x H) that is left of each sentence.

    Raises ShapeError for lengths outside 1 .. S.

    Args:
        h_SBH: the positions; what lies past the end of a sentence is never used.
        weight_NH: [W_l; W_r; G_l; G_r], N = 2 H + 6.
        bias_C: [b; d], C = H + 3; a tensor of no elements for none.
        lengths_B: positions of each sentence, 1 to S.
    """
    open_SBH, lengths_B = columns_of(h_SBH, lengths_B)
    order_B = torch.argsort(lengths_B, descending=True, stable=True)
    sorted_SBH = open_SBH.index_select(1, order_B.to(h_SBH.device))
    top_BH = _fold(lengths_B[order_B].tolist(), sorted_SBH, weight_NH, bias_C)
    return top_BH.index_select(0, torch.argsort(order_B).to(h_SBH.device))


def _fold(lengths: list[int], h_SBH: Tensor, weight_NH: Tensor, bias_C: Tensor) -> Tensor:
    """Return the vectors of sentences, longest first."""
    recording = torch.is_grad_enabled() and any(leaf.requires_grad for leaf in (h_SBH, weight_NH, bias_C))
    matmuls, levels = Matmuls({"fold.weight": weight_NH}, {}, recording), list[_Level]()

    def forward(recording: bool, *leaves: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        h_SBH, _, bias_C = leaves
        tops, h = list[Tensor](), h_SBH[: lengths[0]]
        for size in range(1, lengths[0] + 1):  # positions of a sentence that is folded up at this level
            if ending := lengths.count(size):
                tops.append(h[0, h.shape[1] - ending :])
                h = h[:, : h.shape[1] - ending]
            if not h.shape[1]:
                break
            level, h = _level(matmuls, h, bias_C)
            if recording:
                levels.append(level)
        return torch.cat(tops[::-1]), leaves

    def backward(saved: Sequence[Tensor], dtop_BH: Tensor) -> tuple[Tensor | None, ...]:
        h_SBH, _, bias_C = saved
        dbias_C = torch.zeros_like(bias_C)
        dh = dtop_BH.new_zeros(1, 0, dtop_BH.shape[1])
        for size in range(lengths[0], 0, -1):
            alive = dh.shape[1]
            if ending := lengths.count(size):
                # their first position of this level is their vector; the others were past their end
                joined = dh.new_zeros(dh.shape[0], alive + ending, dh.shape[2])
                joined[:, :alive] = dh
                joined[0, alive:] = dtop_BH[alive : alive + ending]
                dh = joined
            if size > 1:
                dh = _level_back(matmuls, levels[size - 2], dh, dbias_C)
        dh_SBH = torch.zeros_like(h_SBH)
        dh_SBH[: lengths[0]] = dh
        return dh_SBH, matmuls.gradients().get("fold.weight"), dbias_C

    return apply_derived(forward, backward, h_SBH, weight_NH, bias_C)


def _level(matmuls: Matmuls, h: Tensor, bias_C: Tensor) -> tuple[_Level, Tensor]:
    """Steps 1 to 4: the parents of all neighbours."""
    size = h.shape[-1]
    p = matmuls.times("fold.weight", h)  # 1
    left, right = p[:-1], p[1:]
    a = left[..., :size] + right[..., size : 2 * size]
    g = left[..., 2 * size : 2 * size + CHOICES] + right[..., 2 * size + CHOICES :]
    if bias_C.numel():
        a, g = a + bias_C[:size], g + bias_C[size:]
    t = torch.tanh(a)  # 2
    w = torch.exp(g - g.amax(-1, keepdim=True))  # 3
    w = w / (w[..., 0:1] + w[..., 1:2] + w[..., 2:3])
    parents = w[..., 0:1] * t + w[..., 1:2] * h[:-1] + w[..., 2:3] * h[1:]  # 4
    return _Level(h, t, w), parents


def _level_back(matmuls: Matmuls, level: _Level, dh: Tensor, dbias_C: Tensor) -> Tensor:
    """Steps 4 to 1 undone: from the gradient of the parents to that of the children; ``dbias_C`` is added to."""
    h, t, w = level
    size = h.shape[-1]
    dw = torch.stack([(dh * part).sum(-1) for part in (t, h[:-1], h[1:])], -1)  # 4
    dg = w * (dw - (w * dw).sum(-1, keepdim=True))  # 3
    da = tanh_back_(w[..., 0:1] * dh, t)  # 2
    dp = h.new_zeros(*h.shape[:-1], 2 * (size + CHOICES))  # 1
    dp[:-1, :, :size], dp[1:, :, size : 2 * size] = da, da
    dp[:-1, :, 2 * size : 2 * size + CHOICES], dp[1:, :, 2 * size + CHOICES :] = dg, dg
    dchildren = matmuls.times_back("fold.weight", dp)
    dchildren[:-1] += w[..., 1:2] * dh
    dchildren[1:] += w[..., 2:3] * dh
    if dbias_C.numel():
        dbias_C[:size] += da.sum((0, 1))
        dbias_C[size:] += dg.sum((0, 1))
    return dchildren
