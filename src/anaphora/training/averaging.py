"""The mean of a network's weights over the updates, and when it begins to be taken.

Within ``swapped`` the network holds the average, and ``state`` what training goes on from; elsewhere it is the other
way round. So whatever looks at the network then, validation or a checkpoint, sees the average.
"""

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from anaphora.training.rules import AveragedSgd

_ITERATE = "iterate"


class IterateAverage:
    """The running mean of some weights; not begun until an epoch or the validations say so."""

    def __init__(self, config: AveragedSgd, weights: Mapping[str, Tensor]) -> None:
        """``weights`` by name are those that training changes in place."""
        self._config = config
        self._weights = {name: weight.detach() for name, weight in weights.items()}
        self._other: dict[str, Tensor] = {}
        self._count = 0
        self._costs: list[float] = []
        self._triggered = False

    def stepped(self, epoch: int) -> None:
        """Take the weights after an update of ``epoch`` (from 1) into the mean: A += (w - A) / k for the k-th."""
        if not self._triggered and not 0 < self._config.from_epoch <= epoch:
            return
        self._count += 1
        if self._count == 1:
            self._other = {name: weight.clone() for name, weight in self._weights.items()}
        else:
            torch._foreach_lerp_(list(self._other.values()), list(self._weights.values()), 1 / self._count)

    def validated(self, cost: float) -> None:
        """Take note of a validation (less is better), after which averaging may start."""
        older = self._costs[: -self._config.interval]
        if not self._config.from_epoch and older and not cost <= min(older):
            self._triggered = True
        # JSON has no word for infinity
        self._costs.append(cost if math.isfinite(cost) else sys.float_info.max)

    @contextmanager
    def swapped(self) -> Iterator[None]:
        """Within it the network holds the average, if there is one."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def tensors(self) -> dict[str, Tensor]:
        """Within ``swapped``: what training goes on from, as ``iterate/parameter``; nothing before averaging began."""
        return {f"{_ITERATE}/{name}": tensor for name, tensor in self._other.items()}

    def numbers(self) -> dict[str, Any]:
        """What else the next average depends on."""
        return {"count": self._count, "costs": self._costs, "triggered": self._triggered}

    def restore(self, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]) -> dict[str, Tensor]:
        """Take up a saved state, the network holding the average; returns the ``tensors`` that are not its own."""
        self._count, self._triggered = int(numbers["count"]), bool(numbers["triggered"])
        self._costs = [float(cost) for cost in numbers["costs"]]
        own = {key.removeprefix(f"{_ITERATE}/"): key for key in tensors if key.startswith(f"{_ITERATE}/")}
        self._other = {name: tensors[own[name]].clone() for name in self._weights if name in own}
        self._swap()
        return {key: tensor for key, tensor in tensors.items() if key not in own.values()}

    def _swap(self) -> None:
        for name, other in self._other.items():
            weight = self._weights[name]
            held = weight.clone()
            weight.copy_(other)
            other.copy_(held)
