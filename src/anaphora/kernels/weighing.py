"""Normalizers of attention: scores become weights that sum to 1, forward and back (Chorowski et al. 2015, section 2.3).

softmax   a = softmax(b e), sharper for b > 1
sigmoid   a_s = sigm(e_s) / sum_r sigm(e_r), "smoothing": several positions can have much weight at once

The second is a softmax too, of log sigm(e), and so it is never 0 / 0.
"""

from abc import abstractmethod
from typing import Annotated, Any, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from anaphora.config import Config, by_kind


class Weighing(Config):
    """One way from scores to weights; a position whose score is minus infinity has none."""

    @abstractmethod
    def forward(self, e_XBS: Tensor) -> tuple[Tensor, Any]:
        """The weights, and what ``backward`` needs beside them."""

    @abstractmethod
    def backward(self, saved: Any, a_XBS: Tensor, da_XBS: Tensor) -> Tensor:
        """The gradient of the scores."""

    def obstacle(self) -> str:
        """Why the time loop in C cannot run it, in a few words; empty where it can, as it can a softmax."""
        return "the weights are no softmax"


class Softmax(Weighing):
    """a = softmax(b e)."""

    kind: Literal["softmax"] = "softmax"
    sharpness: float = Field(1.0, gt=0)
    """b: above 1 the largest weights gain, below 1 the others ("inverse temperature")."""

    def forward(self, e_XBS: Tensor) -> tuple[Tensor, None]:
        """a = softmax(b e)."""
        return torch.softmax(e_XBS if self.sharpness == 1 else e_XBS * self.sharpness, -1), None

    def backward(self, saved: None, a_XBS: Tensor, da_XBS: Tensor) -> Tensor:
        """de = b a (da - a' da)."""
        de_XBS = _softmax_back(a_XBS, da_XBS)
        return de_XBS if self.sharpness == 1 else de_XBS * self.sharpness

    def obstacle(self) -> str:
        """None."""
        return ""


class Sigmoid(Weighing):
    """a = softmax(f), f = log sigm(e)."""

    kind: Literal["sigmoid"] = "sigmoid"

    def forward(self, e_XBS: Tensor) -> tuple[Tensor, Tensor]:
        """a = softmax(f)."""
        f_XBS = functional.logsigmoid(e_XBS)
        return torch.softmax(f_XBS, -1), f_XBS

    def backward(self, saved: Tensor, a_XBS: Tensor, da_XBS: Tensor) -> Tensor:
        """df as for softmax; de = df (1 - sigm(e))."""
        return _softmax_back(a_XBS, da_XBS) * -torch.expm1(saved)


AnyWeighing = Annotated[Softmax | Sigmoid, Field(discriminator="kind"), by_kind]
"""The way from scores to weights as a recipe names it: ``"softmax"``, or ``{kind = "softmax", sharpness = 2.0}``."""


def _softmax_back(a_XBS: Tensor, da_XBS: Tensor) -> Tensor:
    return a_XBS * (da_XBS - (a_XBS * da_XBS).sum(-1, keepdim=True))
