"""An update rule over the parameters of a network, its state kept under their names."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anaphora.errors import RunError
from anaphora.training.averaging import ITERATE, IterateAverage, MovingAverage, WeightAverage
from anaphora.training.ranks import Ranks
from anaphora.training.rules import AveragedSgd, Rule
from anaphora.training.sparse import CORRECTED, sparse_tables, without_zeros


class NamedOptimizer:
    """An optimizer over the trainable parameters of a module, each known by its name."""

    def __init__(self, config: Rule, model: torch.nn.Module, moving_average: float = 0.0) -> None:
        """Parameters that need no gradient are left out; a tied one is known by its first name."""
        self._config = config
        self.parameters = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._tables = sparse_tables(model) if config.is_sparse else {}
        dense = [weight for name, weight in self.parameters.items() if name not in self._tables]
        self._rules = [config.build(dense)] if dense else []
        if self._tables:
            self._rules.append(config.build_sparse(list(self._tables.values())))
        self._average: WeightAverage | None = None
        if isinstance(config, AveragedSgd):
            self._average = IterateAverage(config, self.parameters)
        elif moving_average:
            self._average = MovingAverage(moving_average, self.parameters)

    def clear(self) -> None:
        for rule in self._rules:
            rule.zero_grad(set_to_none=True)

    def add_gradients(self, ranks: Ranks) -> None:
        """Let every gradient be the sum of those of all ranks."""
        ranks.add_gradients(list(self.parameters.values()))
        for table in self._tables.values():
            if table.grad is not None:
                table.grad = without_zeros(table.grad)

    def gradients(self) -> list[Tensor]:
        """Return the gradients there are, in the order of the parameters; of a sparse one, its rows."""
        there = [weight.grad for weight in self.parameters.values() if weight.grad is not None]
        return [gradient.values() if gradient.is_sparse else gradient for gradient in there]

    def names(self) -> list[str]:
        """Return the names of the weights whose gradients these are."""
        return [name for name, weight in self.parameters.items() if weight.grad is not None]

    def step(self, rate: float, epoch: int) -> None:
        """Update the weights by their gradients, in ``epoch`` (from 1)."""
        for rule in self._rules:
            for group in rule.param_groups:
                group["lr"] = rate
            rule.step()
        if self._average is not None:
            self._average.step(epoch)

    def observe_validation(self, cost: float) -> None:
        """Take note of the deciding metric of a validation; less is better."""
        if self._average is not None:
            self._average.observe_validation(cost)

    def result(self) -> AbstractContextManager[None]:
        """Let the network hold within it what training has to show, which is to be validated and saved."""
        return nullcontext() if self._average is None else self._average.swap_in()

    def tensors(self) -> dict[str, Tensor]:
        """Return, within ``result``, all tensors that the next step depends on, as ``field/parameter``; not copied."""
        kept = {
            f"{field}/{name}": torch.as_tensor(value)
            for name, weight in self.parameters.items()
            for field, value in self._rule(name).state.get(weight, {}).items()
        }
        return kept if self._average is None else kept | self._average.tensors()

    def numbers(self) -> dict[str, Any]:
        """Return everything else that it depends on, for JSON."""
        return {} if self._average is None else self._average.numbers()

    def restore(
        self, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any], where: Path, begun: bool = False
    ) -> None:
        """Restore a saved state, once the network has its saved weights; ``begun`` is True if a step was made.

        Raises RunError where it belongs to other parameters or another rule; ``where`` is the file of the tensors.
        """
        kept: dict[str, dict[str, Tensor]] = {name: {} for name in self.parameters}
        for key, tensor in tensors.items():
            field, _, name = key.partition("/")
            weight = self.parameters.get(name)
            if weight is None or (tensor.ndim and tensor.shape != weight.shape):
                raise RunError(
                    f"{where} keeps {field} for a parameter {name} of shape {tuple(tensor.shape)}, which this network "
                    f"lacks: it belongs to another experiment."
                )
            kept[name][field] = tensor
        dense, sparse = _fields(self._config.build), _fields(self._config.build_sparse) if self._tables else {}
        averaged = sum(ITERATE in fields for fields in kept.values())
        stepped = [name for name, fields in kept.items() if fields.keys() - {ITERATE}]
        fits = self._average is None or averaged == (len(kept) if numbers.get("count") else 0)
        fits &= bool(stepped) or not (begun and (dense or sparse))
        for name in stepped:
            needed = sparse if name in self._tables else dense
            fits &= all(_is_like(kept[name].get(field), like) for field, like in needed.items() if field != CORRECTED)
        if not fits:
            raise RunError(f"{where} lacks what this update rule keeps of each weight: it is of another experiment.")
        for rule in self._rules:
            rule.state.clear()
        rest = tensors if self._average is None else self._average.restore(tensors, numbers)
        for key, tensor in rest.items():
            field, _, name = key.partition("/")
            rule = self._rule(name)
            rule.state[self.parameters[name]][field] = _from_saved(rule, field, tensor, self.parameters[name].device)

    def _rule(self, name: str) -> torch.optim.Optimizer:
        return self._rules[-1 if name in self._tables else 0]


def _fields(build: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]) -> dict[str, Tensor]:
    """Return what a rule keeps of a weight after its first step, by field."""
    weight = torch.nn.Parameter(torch.zeros(1, 1))
    rule = build([weight])
    weight.grad = torch.ones(1, 1).to_sparse(1) if isinstance(rule, torch.optim.SparseAdam) else torch.ones(1, 1)
    rule.step()
    return {field: torch.as_tensor(value) for field, value in rule.state[weight].items()}


def _is_like(tensor: Tensor | None, like: Tensor) -> bool:
    """True if a saved tensor is one number where ``like`` is one, and not negative, or real numbers where it is not."""
    if tensor is None or bool(tensor.ndim) != bool(like.ndim):
        return False
    return tensor.is_floating_point() if like.ndim else 0 <= float(tensor) < 1 << 53


def _from_saved(rule: torch.optim.Optimizer, field: str, tensor: Tensor, device: torch.device) -> Tensor | int:
    """Return a saved tensor as ``rule`` keeps it: those that are not fused count their steps on the processor."""
    if field == "step" and isinstance(rule, torch.optim.SparseAdam):
        return int(tensor)
    counted_there = field == "step" and not rule.param_groups[0].get("fused")
    return tensor.clone() if counted_there else tensor.clone().to(device)
