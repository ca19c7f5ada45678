"""Operations of ``inference.operations`` on tensors, computed at once.

A network written in them is computed by ``TensorOperations``. ``models.description.graph.Graph`` has the same methods
and lists the operations, which describes the network.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.normalisation import EPSILON
from anaphora.nn.weights import project


class TensorOperations:
    """Operations on vectors, and on B x S x W, the steps of each sentence."""

    def __init__(self, lengths_B: Tensor | None = None) -> None:
        """``lengths_B`` are the steps of each sentence, for what depends on its end."""
        self._lengths_B = lengths_B

    def add(self, operation: str, *signals: Tensor, **attributes: Any) -> Tensor:
        """Return the result of an operation."""
        found: Tensor = getattr(self, operation)(*signals, **attributes)
        return found

    def named(self, weight: Tensor | None) -> Tensor | None:
        """Return a weight as operations have it among their attributes."""
        return weight

    def project(self, weights: Mapping[str, Tensor], part: str, x: Tensor) -> Tensor:
        return project(weights, part, x)

    def join(self, signals: list[Tensor]) -> Tensor:
        return torch.cat(signals, -1)

    def tanh(self, x: Tensor) -> Tensor:
        return torch.tanh(x)

    def normalize(self, x: Tensor, gain: Tensor, bias: Tensor | None) -> Tensor:
        return functional.layer_norm(x, gain.shape, gain, bias, EPSILON)

    def zeros(self, like: Tensor, width: int) -> Tensor:
        return like.new_zeros(len(like), width)

    def zero_positions(self, x_BSW: Tensor) -> Tensor:
        return self.zeros(x_BSW, x_BSW.shape[1])

    def first_position(self, x_BSW: Tensor) -> Tensor:
        found = self.zero_positions(x_BSW)
        found[:, 0] = 1
        return found

    def mean(self, x_BSW: Tensor) -> Tensor:
        """Return the mean of each sentence, as attention that looks everywhere alike."""
        assert self._lengths_B is not None
        lengths_B1 = self._lengths_B.to(x_BSW.device).unsqueeze(1)
        open_BS = torch.arange(x_BSW.shape[1], device=x_BSW.device) < lengths_B1
        matmuls = Matmuls({}, {"mean.values": x_BSW}, recording=False)
        return matmuls.attend("mean.values", (open_BS.to(x_BSW) / lengths_B1).unsqueeze(0))[0]

    def windows(self, x_BSW: Tensor, words: int) -> Tensor:
        return x_BSW.unfold(1, words, 1).transpose(2, 3).flatten(2)

    def diagonal_windows(self, x_BSW: Tensor, weight: Tensor) -> Tensor:
        places = x_BSW.shape[1] - len(weight) + 1
        first_W, *others = weight.unbind()
        y_BTW = x_BSW[:, :places] * first_W
        for place, c_W in enumerate(others, 1):  # one by one, in the same order in any batch
            y_BTW = torch.addcmul(y_BTW, x_BSW[:, place : place + places], c_W)
        return y_BTW
