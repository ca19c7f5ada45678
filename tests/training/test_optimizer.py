from pathlib import Path

import pytest
import torch
from torch import Tensor

from anaphora.errors import RunError
from anaphora.training.clipping import clip, global_norm
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Adam


def network(seed: int = 1) -> torch.nn.Module:
    source = torch.Generator().manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(5, 37), torch.nn.Linear(37, 3))
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=source))
    return model


def test_state_of_another_network_is_refused() -> None:
    with pytest.raises(RunError, match=r"there keeps exp_avg for a parameter 7.weight of shape \(2,\)"):
        NamedOptimizer(Adam(), network()).restore({"exp_avg/7.weight": torch.zeros(2)}, {}, Path("there"))


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
    assert global_norm(gradients()) == pytest.approx(13) and global_norm([]) == 0
