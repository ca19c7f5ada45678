from pathlib import Path

import pytest
import torch
from torch import Tensor

from anaphora.errors import RunError
from anaphora.training.clipping import clip, global_norm
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Adadelta, Adam, AveragedSgd, LazyAdam, Momentum, RmsProp, Rule, Sgd


def network(seed: int = 1) -> torch.nn.Module:
    source = torch.Generator().manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(5, 37), torch.nn.Linear(37, 3))
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=source))
    return model


def give_gradients(model: torch.nn.Module, update: int) -> None:
    source = torch.Generator().manual_seed(1000 + update)
    for weight in model.parameters():
        weight.grad = torch.randn(weight.shape, generator=source).to(weight)


def test_state_is_kept_under_the_names_of_the_parameters() -> None:
    model = network()
    optimizer = NamedOptimizer(Adam(), model)
    assert optimizer.tensors() == {}
    give_gradients(model, 1)
    optimizer.step(1e-3, epoch=1)
    names = ("0.weight", "0.bias", "1.weight", "1.bias")
    assert set(optimizer.tensors()) == {
        f"{field}/{name}" for field in ("step", "exp_avg", "exp_avg_sq") for name in names
    }


@pytest.mark.parametrize(
    "rule",
    [
        Sgd(),
        Momentum(nesterov=True),
        AveragedSgd(from_epoch=1),
        Adadelta(),
        RmsProp(momentum=0.5, centered=True),
        Adam(),
        LazyAdam(),
    ],
    ids=lambda rule: rule.kind,
)
def test_a_restored_optimizer_takes_the_same_steps(rule: Rule) -> None:
    whole, part = network(), network()
    optimizer = NamedOptimizer(rule, whole)
    for update in range(3):
        give_gradients(whole, update)
        optimizer.step(1e-3, epoch=1)
    with optimizer.result():
        part.load_state_dict(whole.state_dict())
        tensors = {name: tensor.clone() for name, tensor in optimizer.tensors().items()}
    restored = NamedOptimizer(rule, part)
    restored.restore(tensors, optimizer.numbers(), Path("there"))
    for update in (3, 4):
        for model, one in ((whole, optimizer), (part, restored)):
            give_gradients(model, update)
            one.step(1e-4, epoch=1)
    with optimizer.result(), restored.result():
        assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), part.parameters(), strict=True))


def test_state_of_another_network_is_refused() -> None:
    optimizer = NamedOptimizer(Adam(), network())
    with pytest.raises(RunError, match=r"there keeps exp_avg for a parameter 7.weight"):
        optimizer.restore({"exp_avg/7.weight": torch.zeros(2)}, {}, Path("there"))
    with pytest.raises(RunError, match=r"of shape \(2,\)"):
        optimizer.restore({"exp_avg/0.weight": torch.zeros(2)}, {}, Path("there"))


def test_frozen_parameters_are_left_alone() -> None:
    model = network()
    model[0].weight.requires_grad_(False)  # type: ignore[union-attr]
    optimizer = NamedOptimizer(Adam(), model)
    before = model[0].weight.clone()  # type: ignore[union-attr]
    model(torch.ones(2, 5)).sum().backward()
    optimizer.step(1.0, epoch=1)
    assert torch.equal(model[0].weight, before)  # type: ignore[arg-type]
    assert "0.weight" not in optimizer.parameters


def gradients() -> list[Tensor]:
    return [torch.tensor([[3.0]]), torch.tensor([-4.0, 12.0])]


def test_the_global_norm_is_that_of_all_gradients_laid_end_to_end() -> None:
    assert global_norm(gradients()) == pytest.approx(13)
    assert global_norm([]) == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_the_global_norm_is_not_finite_when_one_number_is_not(value: float) -> None:
    assert not torch.isfinite(torch.tensor(global_norm([torch.ones(3), torch.tensor([1.0, value])])))


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, [3, -4, 12]),
        ({"largest_norm": 6.5}, [1.5, -2, 6]),
        ({"largest_norm": 14}, [3, -4, 12]),
        ({"largest_value": 3.5}, [3, -3.5, 3.5]),
        ({"largest_value": 4, "largest_norm": 41**0.5 / 2}, [1.5, -2, 2]),  # the norm of 3, 4, 4
    ],
)
def test_numbers_are_cut_first_and_all_together_scaled_then(bounds: dict[str, float], expected: list[float]) -> None:
    cut = gradients()
    clip(cut, 13.0, **bounds)
    assert torch.cat([part.flatten() for part in cut]).tolist() == pytest.approx(expected)
