"""Pointwise functions that give a number the same bits wherever it stands in a block, and their gradients."""

import torch
from torch import Tensor


def sigmoid_(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), in place.

    torch.sigmoid rounds the last numbers of a run otherwise than the rest (a vector loop with a scalar tail), so that
    the result of a sentence would depend on its place in the batch. exp and the arithmetic around it do not.
    """
    return x.neg_().exp_().add_(1).reciprocal_()


def sigmoid_back_(ds: Tensor, s: Tensor) -> Tensor:
    """Return da = ds * (s - s * s) of s = sigm(a), in place of ``ds``."""
    return ds.mul_(torch.addcmul(s, s, s, value=-1))


def tanh_back_(dt: Tensor, t: Tensor) -> Tensor:
    """Return da = dt * (1 - t * t) of t = tanh(a), in place of ``dt``."""
    return dt.addcmul_(dt * t, t, value=-1)
