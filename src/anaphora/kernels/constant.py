"""Constant input of a sentence, read at every step: y_t = v, a vector of the memory, or y_t = v_t, a column of it."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import OneToOne


@dataclass(frozen=True)
class Constant(OneToOne):
    """The memory tensor ``<name>.vector`` (B x width) as a signal; of ``source`` it takes the number of rows alone."""

    by_sentence: ClassVar[bool] = True

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], None]:
        """y = v at every step."""
        steps, sentences = inputs[0].shape[:2]
        v_BW = matmuls.of(self.name).sentences("vector", sentences)
        return (v_BW.expand(steps, -1, -1),), None

    def backward(self, matmuls: Matmuls, saved: None, doutputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """dv = sum of dy over the steps."""
        matmuls.of(self.name).add_gradient("vector", doutputs[0].sum(0))
        return (None,)


@dataclass(frozen=True)
class Column(OneToOne):
    """The memory tensor ``<name>.columns`` (B x C x width) as a signal: column t at step t, a clock; the last stays."""

    by_sentence: ClassVar[bool] = True

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """y_t = v_t."""
        (clock_XB1,) = inputs
        columns_BCW = matmuls.of(self.name).sentences("columns", clock_XB1.shape[1])
        place_XB = (clock_XB1.squeeze(-1).long() - 1).clamp(0, columns_BCW.shape[1] - 1)
        places = torch.arange(len(columns_BCW), device=place_XB.device).expand_as(place_XB), place_XB
        return (columns_BCW[places],), places

    def backward(
        self, matmuls: Matmuls, saved: tuple[Tensor, ...], doutputs: tuple[Tensor, ...]
    ) -> tuple[Tensor | None, ...]:
        """dv_t += dy_t; nobody derives by the number of a step."""
        gradient_BCW = matmuls.of(self.name).gradient("columns", doutputs[0].shape[1])
        gradient_BCW.index_put_(saved, doutputs[0], accumulate=True)
        return (None,)
