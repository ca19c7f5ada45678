"""Vectors scaled by the mean and the standard deviation that each of their numbers has in training."""

import torch
from torch import Tensor, nn


class Standardize(nn.Module):
    """(x - mean) / deviation, number by number; both are kept with the weights."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, width: int) -> None:
        """``width`` of the vectors, which are passed on as they are until ``observe``."""
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("deviation", torch.ones(width))

    @property
    def known(self) -> bool:
        """Whether vectors have been observed."""
        return bool(self.mean.any() or self.deviation.ne(1).any())

    def observe(self, mean_D: Tensor, deviation_D: Tensor) -> None:
        """Take the mean and the deviation; a number that is always the same is centred alone."""
        self.mean.copy_(mean_D)
        self.deviation.copy_(torch.where(deviation_D > 0, deviation_D, 1))

    def forward(self, x_BSD: Tensor) -> Tensor:
        """The scaled vectors."""
        return (x_BSD - self.mean) / self.deviation
