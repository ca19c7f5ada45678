"""What large and restless states cost: gradients, naive readings, and rows that count by their own lengths."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels import naive
from anaphora.kernels.penalty import change_penalty, size_penalty

Penalty = Callable[..., Tensor]
BOTH: Any = pytest.mark.parametrize(
    ("penalty", "reading"), [(size_penalty, naive.size_penalty), (change_penalty, naive.change_penalty)]
)


def rows(size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Three rows of T <= size states of as many numbers, with a gradient; lengths; weights."""
    generator = torch.Generator().manual_seed(size)
    states = torch.randn(size, 3, size, generator=generator, dtype=torch.float64)
    lengths = torch.tensor([size, max(1, size // 2), 1])
    return states.requires_grad_(), lengths, torch.rand(3, generator=generator, dtype=torch.float64)


@BOTH
@pytest.mark.parametrize(("size", "fast"), [(1, False), (7, False), (63, True)])
def test_the_derived_gradient_is_that_of_finite_differences(
    penalty: Penalty, reading: Penalty, size: int, fast: bool
) -> None:
    states, lengths, weights = rows(size)
    assert torch.autograd.gradcheck(lambda s: penalty(s, lengths, weights), [states], fast_mode=fast)


@BOTH
@pytest.mark.parametrize("size", [1, 7, 63])
def test_cost_and_gradient_equal_the_naive_reading(penalty: Penalty, reading: Penalty, size: int) -> None:
    states, lengths, weights = rows(size)
    ours, theirs = penalty(states, lengths, weights), reading(states, lengths, weights)
    assert_close(ours, theirs, rtol=1e-12, atol=0)
    found, expected = (torch.autograd.grad(3 * one, states)[0] for one in (ours, theirs))
    assert_close(found, expected, rtol=1e-12, atol=1e-15)
    assert_close(penalty(states, lengths), reading(states, lengths, torch.ones(3)), rtol=1e-12, atol=0)


@BOTH
def test_padding_filled_with_nan_costs_nothing(penalty: Penalty, reading: Penalty) -> None:
    states, lengths, weights = rows(7)
    open_TB = torch.arange(7).unsqueeze(1) < lengths
    spoilt = states.detach().where(open_TB.unsqueeze(2), torch.nan).requires_grad_()
    assert_close(penalty(spoilt, lengths, weights), penalty(states, lengths, weights), rtol=0, atol=0)
    [found] = torch.autograd.grad(penalty(spoilt, lengths, weights), spoilt)
    [expected] = torch.autograd.grad(penalty(states, lengths, weights), states)
    assert_close(found, expected, rtol=0, atol=0)
    assert not found[~open_TB].any()


def test_a_state_that_never_changes_costs_its_size_alone() -> None:
    states = torch.full((5, 1, 4), 3.0)
    assert size_penalty(states, torch.tensor([5])) == 5 * 9 and change_penalty(states, torch.tensor([5])) == 0


@BOTH
def test_lengths_of_other_rows_are_refused(penalty: Penalty, reading: Penalty) -> None:
    with pytest.raises(ShapeError, match="B=2"):
        penalty(torch.zeros(4, 3, 2), torch.tensor([4, 4]))
