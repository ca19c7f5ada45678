from pathlib import Path

import pytest
import torch

from anaphora.errors import RunError
from anaphora.training.clipping import clip, global_norm
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.rules import Adam


def test_state_of_another_network_is_refused() -> None:
    with pytest.raises(RunError, match=r"there keeps exp_avg for a parameter 7.weight of shape \(2,\)"):
        NamedOptimizer(Adam(), torch.nn.Linear(5, 3)).restore({"exp_avg/7.weight": torch.zeros(2)}, {}, Path("there"))


def test_frozen_parameters_are_left_alone() -> None:
    model = torch.nn.Linear(5, 3)
    model.weight.requires_grad_(False)
    optimizer, before = NamedOptimizer(Adam(), model), model.weight.clone()
    model(torch.ones(2, 5)).sum().backward()
    optimizer.step(1.0, epoch=1)
    assert torch.equal(model.weight, before)
    assert list(optimizer.parameters) == ["bias"]


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
    cut = [torch.tensor([[3.0]]), torch.tensor([-4.0, 12.0])]
    assert global_norm(cut) == pytest.approx(13) and global_norm([]) == 0
    clip(cut, 13.0, **bounds)
    assert torch.cat([part.flatten() for part in cut]).tolist() == pytest.approx(expected)
