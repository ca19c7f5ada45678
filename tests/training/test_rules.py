"""Every update rule against its equations, read in the plainest way; and what all of them keep to."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Adadelta, Adam, AveragedSgd, Momentum, RmsProp, Rule, Sgd
from tests.runtimes import threads

Kept = dict[str, Tensor]
Step = Callable[[Tensor, Tensor, float, int, Kept], Tensor]
"""From a weight, its gradient, the rate, the update from 1, and what is kept, to the next weight."""


def sgd(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    return w - rate * g


def momentum(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    kept["v"] = 0.8 * kept.get("v", torch.zeros_like(w)) + g
    return w - rate * kept["v"]


def nesterov(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    kept["v"] = 0.8 * kept.get("v", torch.zeros_like(w)) + g
    return w - rate * (g + 0.8 * kept["v"])


def adadelta(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    zero = torch.zeros_like(w)
    kept["E"] = 0.9 * kept.get("E", zero) + 0.1 * g**2
    step = (kept.get("D", zero) + 1e-4).sqrt() / (kept["E"] + 1e-4).sqrt() * g
    kept["D"] = 0.9 * kept.get("D", zero) + 0.1 * step**2
    return w - rate * step


def rmsprop(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    kept["E"] = 0.8 * kept.get("E", torch.zeros_like(w)) + 0.2 * g**2
    return w - rate * g / (kept["E"].sqrt() + 1e-3)


def centred(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    zero = torch.zeros_like(w)
    kept["E"] = 0.8 * kept.get("E", zero) + 0.2 * g**2
    kept["M"] = 0.8 * kept.get("M", zero) + 0.2 * g
    kept["v"] = 0.5 * kept.get("v", zero) + g / (kept["E"] - kept["M"] ** 2 + 1e-3).sqrt()
    return w - rate * kept["v"]


def adam(w: Tensor, g: Tensor, rate: float, t: int, kept: Kept) -> Tensor:
    zero = torch.zeros_like(w)
    kept["m"] = 0.8 * kept.get("m", zero) + 0.2 * g
    kept["v"] = 0.95 * kept.get("v", zero) + 0.05 * g**2
    return w - rate * (kept["m"] / (1 - 0.8**t)) / ((kept["v"] / (1 - 0.95**t)).sqrt() + 1e-6)


RULES = pytest.mark.parametrize(
    ("rule", "step"),
    [
        (Sgd(), sgd),
        (AveragedSgd(), sgd),
        (Momentum(momentum=0.8), momentum),
        (Momentum(momentum=0.8, nesterov=True), nesterov),
        (Adadelta(decay=0.9, epsilon=1e-4), adadelta),
        (RmsProp(decay=0.8, epsilon=1e-3), rmsprop),
        (RmsProp(decay=0.8, epsilon=1e-3, momentum=0.5, centered=True), centred),
        (Adam(betas=(0.8, 0.95), epsilon=1e-6), adam),
    ],
    ids=lambda value: getattr(value, "kind", None) or value.__name__,
)


def gradient(shape: torch.Size, update: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(update), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
@RULES
def test_a_rule_follows_its_equations(rule: Rule, step: Step, weight_decay: float) -> None:
    model = torch.nn.Linear(5, 3, bias=False, dtype=torch.float64)
    optimizer = NamedOptimizer(rule.model_copy(update={"weight_decay": weight_decay}), model)
    expected, kept = model.weight.detach().clone(), Kept()
    for t in range(1, 7):
        g = gradient(expected.shape, t, torch.float64)
        model.weight.grad = g.clone()
        optimizer.step(0.1 / t, epoch=1)
        expected = step(expected, g + weight_decay * expected, 0.1 / t, t, kept)
    torch.testing.assert_close(model.weight.detach(), expected)


@RULES
@pytest.mark.parametrize("noise", [0.0, 1e-5])
def test_a_gradient_that_hardly_changes_is_followed_for_ever(rule: Rule, step: Step, noise: float) -> None:
    model = torch.nn.Linear(5, 3, bias=False)
    optimizer, start = NamedOptimizer(rule, model), model.weight.detach().clone()
    for t in range(1, 301):
        model.weight.grad = 0.7 * (1 + noise * gradient(model.weight.shape, t, torch.float32))
        optimizer.step(1e-3, epoch=1)
    assert model.weight.isfinite().all() and (model.weight < start).all()


@RULES
def test_a_rule_gives_the_same_bits_whatever_the_number_of_threads(rule: Rule, step: Step) -> None:
    results = []
    for number in (1, 2):
        torch.manual_seed(0)
        model = torch.nn.Linear(301, 299)
        optimizer = NamedOptimizer(rule, model)
        with threads(number):
            for update in range(1, 4):
                for weight in model.parameters():
                    weight.grad = gradient(weight.shape, update, weight.dtype)
                optimizer.step(1e-3, epoch=1)
        results.append(model.weight.detach())
    assert torch.equal(*results)
