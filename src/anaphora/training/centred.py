"""RMSProp whose mean of squared gradients is centred: lessened by the square of their mean (Graves 2013, section 4.2).

    E = d E + (1 - d) g^2        M = d M + (1 - d) g
    u = g / sqrt(max(E - M^2, 0) + e)
    v = m v + u                  w -= r v

torch's own adds e outside the root, where it cannot help: of a gradient that hardly changes, rounding makes E - M^2
negative, and its root no number.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class CentredRmsProp(torch.optim.Optimizer):
    """The rule over some parameters; what it keeps of each is called as torch's own calls it."""

    def __init__(
        self,
        parameters: list[torch.nn.Parameter],
        lr: float,
        decay: float,
        epsilon: float,
        momentum: float,
        weight_decay: float,
    ) -> None:
        """``lr``, ``decay``, ``epsilon`` and ``momentum`` are r, d, e and m; ``weight_decay`` adds so many w to g."""
        self._decay, self._epsilon, self._momentum, self._weight_decay = decay, epsilon, momentum, weight_decay
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient; ``closure`` is what torch's contract has, and is not called."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    weight.sub_(group["lr"] * self._direction(weight, weight.grad))

    def _direction(self, weight: Tensor, g: Tensor) -> Tensor:
        """v."""
        if self._weight_decay:
            g = g.add(weight, alpha=self._weight_decay)
        kept: dict[str, Tensor] = self.state[weight]
        for name in "square_avg", "grad_avg", "momentum_buffer":
            kept.setdefault(name, torch.zeros_like(weight))
        squares, mean, v = kept["square_avg"], kept["grad_avg"], kept["momentum_buffer"]
        squares.mul_(self._decay).addcmul_(g, g, value=1 - self._decay)
        mean.lerp_(g, 1 - self._decay)
        spread = squares.addcmul(mean, mean, value=-1).clamp_(min=0).add_(self._epsilon).sqrt_()
        return v.mul_(self._momentum).addcdiv_(g, spread)
