"""Optimizers whose state is kept under the names of the parameters.

Adam runs fused: one pass over memory instead of about ten, three to four times faster on a processor and equally
reproducible bit for bit, whatever the number of threads.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import Config
from anaphora.errors import RunError

Share = Annotated[float, Field(ge=0, lt=1)]


class Adam(Config):
    """Adam (Kingma and Ba 2015, algorithm 1)."""

    kind: Literal["adam"] = "adam"
    """Which optimizer this is."""
    rate: float = Field(1e-3, gt=0)
    """Learning rate at the start."""
    betas: tuple[Share, Share] = (0.9, 0.999)
    """Decay of the running means of the gradient and of its square."""
    epsilon: float = Field(1e-8, gt=0)
    """Added to the root of the second mean."""

    def build(self, parameters: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
        """The optimizer over ``parameters``."""
        return torch.optim.Adam(parameters, lr=self.rate, betas=self.betas, eps=self.epsilon, fused=True)


class NamedOptimizer:
    """An optimizer over the trainable parameters of a module, each known by its name."""

    def __init__(self, config: Adam, model: torch.nn.Module) -> None:
        """Parameters that need no gradient are left out; a tied one is known by its first name."""
        self.parameters = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._torch = config.build(list(self.parameters.values()))

    def clear(self) -> None:
        """Drop the gradients."""
        self._torch.zero_grad(set_to_none=True)

    def gradients(self) -> list[Tensor]:
        """The gradients there are, in the order of the parameters."""
        return [weight.grad for weight in self.parameters.values() if weight.grad is not None]

    def step(self, rate: float) -> None:
        """Update the weights by their gradients."""
        for group in self._torch.param_groups:
            group["lr"] = rate
        self._torch.step()

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, as ``field/parameter``; not copied."""
        return {
            f"{field}/{name}": cast(Tensor, tensor)
            for name, weight in self.parameters.items()
            for field, tensor in self._torch.state.get(weight, {}).items()
        }

    def restore(self, state: Mapping[str, Tensor], where: Path) -> None:
        """Take up a saved ``state``; RunError when it belongs to other parameters."""
        for key, tensor in state.items():
            field, _, name = key.partition("/")
            weight = self.parameters.get(name)
            if weight is None or (tensor.ndim and tensor.shape != weight.shape):
                raise RunError(
                    f"{where} keeps {field} for a parameter {name} of shape {tuple(tensor.shape)}, which this network "
                    f"lacks: it belongs to another experiment."
                )
            self._torch.state[weight][field] = tensor.clone()


def global_norm(gradients: list[Tensor]) -> float:
    """The Euclidean norm of all gradients together; not finite when one of them is not."""
    return float(torch.nn.utils.get_total_norm(gradients)) if gradients else 0.0


def scale(gradients: list[Tensor], factor: float) -> None:
    """Multiply all gradients by ``factor``, in place."""
    for gradient in gradients:
        gradient.mul_(factor)
