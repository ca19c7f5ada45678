"""The mean of a network's weights over the updates: which updates it takes in, and what each counts.

Within ``swapped`` the network holds the average, and ``tensors`` what training goes on from; elsewhere it is the other
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

ITERATE = "iterate"
"""The field of the weights that training goes on from."""


class WeightAverage:
    """A mean A of some weights w, which every update from the first that counts moves by a share: A += s (w - A)."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        """``weights`` by name are those that training changes in place."""
        self._weights = {name: weight.detach() for name, weight in weights.items()}
        self._other: dict[str, Tensor] = {}
        self._count = 0

    def share(self, number: int) -> float:
        """Return the weight of the ``number``-th counted update (from 1) beside all before it, above 0 and up to 1."""
        raise NotImplementedError

    def counts(self, epoch: int) -> bool:
        """True if an update of ``epoch`` (from 1) counts."""
        raise NotImplementedError

    def step(self, epoch: int) -> None:
        """Take in the weights after an update of ``epoch``."""
        if not self.counts(epoch):
            return
        self._count += 1
        if self._count == 1:
            self._other = {name: weight.clone() for name, weight in self._weights.items()}
        else:
            share = self.share(self._count)
            torch._foreach_lerp_(list(self._other.values()), list(self._weights.values()), share)

    def observe_validation(self, cost: float) -> None:
        """Take note of a validation, less being better."""

    @contextmanager
    def swap_in(self) -> Iterator[None]:
        """Let the network hold the average within it, if there is one."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def tensors(self) -> dict[str, Tensor]:
        """Return, within ``swapped``, what training goes on from, as ``iterate/parameter``; nothing before that."""
        return {f"{ITERATE}/{name}": tensor for name, tensor in self._other.items()}

    def numbers(self) -> dict[str, Any]:
        """Return the state that the next average depends on beside the weights."""
        return {"count": self._count}

    def restore(self, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]) -> dict[str, Tensor]:
        """Restore a saved state, once the network holds the average; return the ``tensors`` that belong to others."""
        self._count = int(numbers["count"])
        own = {key.removeprefix(f"{ITERATE}/"): key for key in tensors if key.startswith(f"{ITERATE}/")}
        self._other = {
            name: tensors[own[name]].clone().to(weight.device) for name, weight in self._weights.items() if name in own
        }
        self._swap()
        return {key: tensor for key, tensor in tensors.items() if key not in own.values()}

    def _swap(self) -> None:
        for name, other in self._other.items():
            weight = self._weights[name]
            held = weight.clone()
            weight.copy_(other)
            other.copy_(held)


class IterateAverage(WeightAverage):
    """The plain mean of all weights since an epoch began, or since validations stopped getting better."""

    def __init__(self, config: AveragedSgd, weights: Mapping[str, Tensor]) -> None:
        """As ``config`` says when."""
        super().__init__(weights)
        self._config = config
        self._costs: list[float] = []
        self._triggered = False

    def share(self, number: int) -> float:
        """Return as much as each of the others has."""
        return 1 / number

    def counts(self, epoch: int) -> bool:
        """True if averaging has begun."""
        return self._triggered or 0 < self._config.from_epoch <= epoch

    def observe_validation(self, cost: float) -> None:
        """Take note of a validation (less is better), after which averaging may start."""
        older = self._costs[: -self._config.interval]
        if not self._config.from_epoch and older and not cost <= min(older):
            self._triggered = True
        # JSON has no word for infinity
        self._costs.append(cost if math.isfinite(cost) else sys.float_info.max)

    def numbers(self) -> dict[str, Any]:
        """Return the state that the next average depends on beside the weights."""
        return super().numbers() | {"costs": self._costs, "triggered": self._triggered}

    def restore(self, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]) -> dict[str, Tensor]:
        """Restore a saved state, once the network holds the average; return the ``tensors`` that belong to others."""
        self._costs = [float(cost) for cost in numbers["costs"]]
        self._triggered = bool(numbers["triggered"])
        return super().restore(tensors, numbers)


class MovingAverage(WeightAverage):
    """An exponential moving average: what is some updates back counts less and less.

    An update counts 1 - d, for a ``decay`` of d, and more at first, when all that is old is no good yet: the k-th
    counts 9 / (k + 9), so that about the last ninth of the way makes the average, until it is 1 / (1 - d) updates.
    """

    def __init__(self, decay: float, weights: Mapping[str, Tensor]) -> None:
        """``decay`` lies between 0 and 1."""
        super().__init__(weights)
        self._decay = decay

    def share(self, number: int) -> float:
        """1 - d, or 9 / (k + 9) while that is more."""
        return max(1 - self._decay, 9 / (number + 9))

    def counts(self, epoch: int) -> bool:
        """Return True from the first update on."""
        return True
