"""The second reading of convolutions over sentences: one sentence after another, one neighbour after another."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional


def gated_convolution(h_SBH: Tensor, weights: Mapping[str, Tensor], lengths_B: Tensor) -> Tensor:
    """Return the vector that is left of each sentence, B x H (Cho et al. 2014b, equations 3 to 5).

    ``weights`` are the matrices W_l, W_r, G_l and G_r of the paper by these names, and perhaps the biases b and d.
    """
    tops = []
    for sentence, length in enumerate(lengths_B.tolist()):
        level = [h_SBH[position, sentence] for position in range(length)]
        while len(level) > 1:
            level = [_parent(left_H, level[place + 1], weights) for place, left_H in enumerate(level[:-1])]
        tops.append(level[0])
    return torch.stack(tops)


def _parent(left_H: Tensor, right_H: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    new_H = torch.tanh(weights["W_l"] @ left_H + weights["W_r"] @ right_H + weights.get("b", 0))
    exponential = torch.exp(weights["G_l"] @ left_H + weights["G_r"] @ right_H + weights.get("d", 0))
    w_new, w_left, w_right = exponential / exponential.sum()
    parent_H: Tensor = w_new * new_H + w_left * left_H + w_right * right_H
    return parent_H


def convolution(x_SBD: Tensor, kernels: Mapping[str, Tensor], widest: int, lengths_B: Tensor) -> Tensor:
    """Return the vector that is left of each sentence, B x D (Kalchbrenner and Blunsom 2013, section 3.2).

    ``kernels`` are K^i and L^i as ``fold<i>`` and ``close<i>``, D x i.
    """
    tops = []
    for sentence, length in enumerate(lengths_B.tolist()):
        columns_DN, width = x_SBD[:length, sentence].T, 2
        while columns_DN.shape[1] > width:
            columns_DN = _rows_over(columns_DN, kernels[f"fold{width}"])
            width = min(width + 1, widest)
        tops.append(_rows_over(columns_DN, kernels[f"close{columns_DN.shape[1]}"])[:, 0])
    return torch.stack(tops)


def ngrams(columns_DN: Tensor, kernels: Mapping[str, Tensor], widest: int, folds: int, enough: int) -> Tensor:
    """The columns of one sentence (D x N) folded ``folds`` times, and on to no more than ``enough`` (section 4.1)."""
    width, applied = 2, 0
    while applied < folds or columns_DN.shape[1] > enough:
        if columns_DN.shape[1] <= width:
            return _rows_over(columns_DN, kernels[f"close{columns_DN.shape[1]}"])
        columns_DN = _rows_over(columns_DN, kernels[f"fold{width}"])
        width, applied = min(width + 1, widest), applied + 1
    return columns_DN


def unfold_columns(columns_DN: Tensor, kernels: Mapping[str, Tensor], widest: int, wanted: int) -> Tensor:
    """``wanted`` columns out of those of one sentence (D x N), by J^i and H^i as ``unfold<i>`` and ``open<i>``."""
    missing, width, outer = wanted - columns_DN.shape[1], 2, list[str]()
    while missing > width - 1:
        outer.append(f"unfold{width}")
        missing, width = missing - width + 1, min(width + 1, widest)
    for name in f"open{missing + 1}", *reversed(outer):
        kernel_D1I = kernels[name].unsqueeze(1)
        columns_DN = torch.tanh(functional.conv_transpose1d(columns_DN, kernel_D1I, groups=len(columns_DN)))
    return columns_DN


def _rows_over(columns_DN: Tensor, kernel_DI: Tensor) -> Tensor:
    """Return each row of the kernel applied along the same row of the columns, and tanh."""
    return torch.tanh((columns_DN.unfold(1, kernel_DI.shape[1], 1) * kernel_DI.unsqueeze(1)).sum(-1))
