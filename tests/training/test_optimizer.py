from pathlib import Path

import pytest
import torch

from anaphora.errors import RunError
from anaphora.training.optimizer import Adam, NamedOptimizer, global_norm, scale


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


def test_adam_follows_the_equations_of_its_paper() -> None:
    model = network().double()
    config = Adam(rate=0.01, betas=(0.8, 0.95), epsilon=1e-6)
    optimizer = NamedOptimizer(config, model)
    expected = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    mean = {name: torch.zeros_like(weight) for name, weight in expected.items()}
    square = {name: torch.zeros_like(weight) for name, weight in expected.items()}
    for t in range(1, 6):
        give_gradients(model, t)
        for name, weight in model.named_parameters():
            assert weight.grad is not None
            mean[name] = 0.8 * mean[name] + 0.2 * weight.grad
            square[name] = 0.95 * square[name] + 0.05 * weight.grad**2
            corrected = (square[name] / (1 - 0.95**t)).sqrt() + 1e-6
            expected[name] -= 0.02 / t * (mean[name] / (1 - 0.8**t)) / corrected
        optimizer.step(0.02 / t)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.detach(), expected[name])


def test_adam_gives_the_same_bits_whatever_the_number_of_threads() -> None:
    results = []
    threads = torch.get_num_threads()
    for number in (1, 2):
        torch.set_num_threads(number)
        model = torch.nn.Linear(301, 299)
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(3)))
        optimizer = NamedOptimizer(Adam(), model)
        for update in range(3):
            give_gradients(model, update)
            optimizer.step(1e-3)
        results.append(model.weight.detach().clone())
    torch.set_num_threads(threads)
    assert torch.equal(*results)


def test_state_is_kept_under_the_names_of_the_parameters() -> None:
    model = network()
    optimizer = NamedOptimizer(Adam(), model)
    assert optimizer.state() == {}
    give_gradients(model, 1)
    optimizer.step(1e-3)
    names = ("0.weight", "0.bias", "1.weight", "1.bias")
    assert set(optimizer.state()) == {
        f"{field}/{name}" for field in ("step", "exp_avg", "exp_avg_sq") for name in names
    }


def test_a_restored_optimizer_takes_the_same_steps() -> None:
    whole, part = network(), network()
    optimizer = NamedOptimizer(Adam(), whole)
    for update in range(3):
        give_gradients(whole, update)
        optimizer.step(1e-3)
    part.load_state_dict(whole.state_dict())
    restored = NamedOptimizer(Adam(), part)
    restored.restore({name: tensor.clone() for name, tensor in optimizer.state().items()}, Path("there"))
    for model, one in ((whole, optimizer), (part, restored)):
        give_gradients(model, 3)
        one.step(1e-4)
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), part.parameters(), strict=True))


def test_state_of_another_network_is_refused() -> None:
    optimizer = NamedOptimizer(Adam(), network())
    with pytest.raises(RunError, match=r"there keeps exp_avg for a parameter 7.weight"):
        optimizer.restore({"exp_avg/7.weight": torch.zeros(2)}, Path("there"))
    with pytest.raises(RunError, match=r"of shape \(2,\)"):
        optimizer.restore({"exp_avg/0.weight": torch.zeros(2)}, Path("there"))


def test_frozen_parameters_are_left_alone() -> None:
    model = network()
    model[0].weight.requires_grad_(False)  # type: ignore[union-attr]
    optimizer = NamedOptimizer(Adam(), model)
    before = model[0].weight.clone()  # type: ignore[union-attr]
    model(torch.ones(2, 5)).sum().backward()
    optimizer.step(1.0)
    assert torch.equal(model[0].weight, before)  # type: ignore[arg-type]
    assert "0.weight" not in optimizer.parameters


def test_the_global_norm_is_that_of_all_gradients_laid_end_to_end() -> None:
    gradients = [torch.tensor([[3.0]]), torch.tensor([4.0, 12.0])]
    assert global_norm(gradients) == pytest.approx(13)
    scale(gradients, 0.5)
    assert global_norm(gradients) == pytest.approx(6.5)
    assert global_norm([]) == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_the_global_norm_is_not_finite_when_one_number_is_not(value: float) -> None:
    assert not torch.isfinite(torch.tensor(global_norm([torch.ones(3), torch.tensor([1.0, value])])))
