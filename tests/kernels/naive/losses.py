"""The second reading of losses over a whole vocabulary, of guided attention, and of penalties."""

import torch
from torch import Tensor


def cross_entropy(
    hidden_NH: Tensor, weight_VH: Tensor, bias_V: Tensor | None, targets_N: Tensor, smoothing: float = 0.0
) -> Tensor:
    """sum_n -sum_v q_nv log softmax(W h_n + b)_v, where q gives 1 - e to the target and spreads e over all V."""
    s_NV = hidden_NH @ weight_VH.T
    if bias_V is not None:
        s_NV = s_NV + bias_V
    q_NV = torch.full_like(s_NV, smoothing / s_NV.shape[1])
    q_NV[torch.arange(len(targets_N)), targets_N] += 1 - smoothing
    return -(q_NV * torch.log(softmax(s_NV))).sum()


def guidance(weights_TBS: Tensor, links_TBS: Tensor) -> Tensor:
    """- sum_ts A_ts ln a_ts over what is linked (Chen et al. 2016, equation 4)."""
    linked = links_TBS > 0
    return -(links_TBS[linked] * torch.log(weights_TBS[linked])).sum()


def size_penalty(states_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor) -> Tensor:
    """sum_b w_b sum_t |s_t|^2 / H (Merity et al. 2018, section 4.6)."""
    rows = [states_TBH[: int(length), b] for b, length in enumerate(lengths_B)]
    return torch.stack([w * (s_TH**2).mean(1).sum() for w, s_TH in zip(weights_B, rows, strict=True)]).sum()


def change_penalty(states_TBH: Tensor, lengths_B: Tensor, weights_B: Tensor) -> Tensor:
    """Return the same of s_t - s_{t-1}."""
    return size_penalty(states_TBH[1:] - states_TBH[:-1], lengths_B - 1, weights_B)


def doubly_stochastic(weights_TBS: Tensor, lengths_B: Tensor, memory_lengths_B: Tensor, weights_B: Tensor) -> Tensor:
    """sum_b w_b sum_s (1 - sum_t a_ts)^2 over what is open (Xu et al. 2015, equation 14)."""
    rows = [
        ((1 - weights_TBS[: int(steps), b, : int(positions)].sum(0)) ** 2).sum()
        for b, (steps, positions) in enumerate(zip(lengths_B, memory_lengths_B, strict=True))
    ]
    return (weights_B * torch.stack(rows)).sum()


def softmax(e: Tensor) -> Tensor:
    """exp(e) / sum exp(e) over the last dimension."""
    exponential = torch.exp(e - e.max(dim=-1, keepdim=True).values)
    return exponential / exponential.sum(dim=-1, keepdim=True)
