import pytest
import torch
from torch import Tensor

from anaphora.training.clipping import clip, global_norm


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
