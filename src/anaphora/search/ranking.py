"""The k best of a row, with ties decided."""

import torch
from torch import Tensor


def top_k(values_NV: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The ``k`` greatest values of each row, greatest first, and their ids; of equal values the lower id comes first.

    ``torch.topk`` promises nothing about ties, so they are put in order here: those within the k by a stable sort,
    those across the border (rare) by sorting the whole row. Which of several -inf is taken is undefined.
    """
    if k >= values_NV.shape[1]:
        return values_NV.sort(dim=1, descending=True, stable=True)
    values, ids = values_NV.topk(k + 1, dim=1)
    tied_N = (values[:, k - 1] == values[:, k]) & (values[:, k] > -torch.inf)
    values, ids = values[:, :k], ids[:, :k]
    ids, order = ids.sort(dim=1)
    values, order = values.gather(1, order).sort(dim=1, descending=True, stable=True)
    ids = ids.gather(1, order)
    if tied_N.any():
        whole, whole_ids = values_NV[tied_N].sort(dim=1, descending=True, stable=True)
        values[tied_N], ids[tied_N] = whole[:, :k], whole_ids[:, :k]
    return values, ids
