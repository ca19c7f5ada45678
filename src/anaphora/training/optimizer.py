"""An update rule over the parameters of a network, its state kept under their names."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anaphora.errors import RunError
from anaphora.training.averaging import IterateAverage, MovingAverage, WeightAverage
from anaphora.training.rules import AveragedSgd, Rule


class NamedOptimizer:
    """An optimizer over the trainable parameters of a module, each known by its name."""

    def __init__(self, config: Rule, model: torch.nn.Module, moving_average: float = 0.0) -> None:
        """Parameters that need no gradient are left out; a tied one is known by its first name."""
        self.parameters = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._torch = config.build(list(self.parameters.values()))
        self._average: WeightAverage | None = None
        if isinstance(config, AveragedSgd):
            self._average = IterateAverage(config, self.parameters)
        elif moving_average:
            self._average = MovingAverage(moving_average, self.parameters)

    def clear(self) -> None:
        self._torch.zero_grad(set_to_none=True)

    def gradients(self) -> list[Tensor]:
        """The gradients there are, in the order of the parameters."""
        return [weight.grad for weight in self.parameters.values() if weight.grad is not None]

    def names(self) -> list[str]:
        """The names of the weights whose gradients these are."""
        return [name for name, weight in self.parameters.items() if weight.grad is not None]

    def step(self, rate: float, epoch: int) -> None:
        """Update the weights by their gradients, in ``epoch`` (from 1)."""
        for group in self._torch.param_groups:
            group["lr"] = rate
        self._torch.step()
        if self._average is not None:
            self._average.stepped(epoch)

    def validated(self, cost: float) -> None:
        """Take note of the deciding metric of a validation; less is better."""
        if self._average is not None:
            self._average.validated(cost)

    @contextmanager
    def result(self) -> Iterator[None]:
        """Within it the network holds what training has to show, which is to be validated and saved."""
        if self._average is None:
            yield
            return
        with self._average.swapped():
            yield

    def tensors(self) -> dict[str, Tensor]:
        """Within ``result``: all tensors that the next step depends on, as ``field/parameter``; not copied."""
        kept = {
            f"{field}/{name}": value
            for name, weight in self.parameters.items()
            for field, value in self._torch.state.get(weight, {}).items()
            if isinstance(value, Tensor)
        }
        return kept if self._average is None else kept | self._average.tensors()

    def numbers(self) -> dict[str, Any]:
        """Everything else that it depends on, for JSON."""
        return {} if self._average is None else self._average.numbers()

    def restore(self, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any], where: Path) -> None:
        """Take up a saved state, the network filled with what was saved of it.

        Raises RunError where it belongs to other parameters; ``where`` is the file of the tensors.
        """
        for key, tensor in tensors.items():
            field, _, name = key.partition("/")
            weight = self.parameters.get(name)
            if weight is None or (tensor.ndim and tensor.shape != weight.shape):
                raise RunError(
                    f"{where} keeps {field} for a parameter {name} of shape {tuple(tensor.shape)}, which this network "
                    f"lacks: it belongs to another experiment."
                )
        self._torch.state.clear()
        rest = tensors if self._average is None else self._average.restore(tensors, numbers)
        for key, tensor in rest.items():
            field, _, name = key.partition("/")
            weight = self.parameters[name]
            # rules that are not fused count their steps on the processor
            counted_there = field == "step" and not self._torch.param_groups[0].get("fused")
            self._torch.state[weight][field] = tensor.clone() if counted_there else tensor.clone().to(weight.device)
