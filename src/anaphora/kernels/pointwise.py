"""Pointwise functions that give a number the same bits wherever it stands in a block."""

from torch import Tensor


def sigmoid_(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), in place.

    torch.sigmoid rounds the last numbers of a run otherwise than the rest (a vector loop with a scalar tail), so that
    the result of a sentence would depend on its place in the batch. exp and the arithmetic around it do not.
    """
    return x.neg_().exp_().add_(1).reciprocal_()
