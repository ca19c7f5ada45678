"""The doubly stochastic penalty: its gradient, its naive reading, and what it never looks at."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels import naive
from anaphora.kernels.coverage import doubly_stochastic

SIZES = pytest.mark.parametrize("size", [1, 7, 63])


def tensors(size: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Numbers in the place of attention weights, with a gradient, the steps and positions of 3 rows, their weights."""
    source = torch.Generator().manual_seed(size)
    weights = torch.rand(size, 3, size + 1, generator=source, dtype=torch.float64).requires_grad_()
    lengths = torch.randint(1, size + 1, (3,), generator=source)
    positions = torch.randint(1, size + 2, (3,), generator=source)
    return weights, lengths, positions, torch.rand(3, generator=source, dtype=torch.float64)


@SIZES
def test_the_derived_gradient_is_that_of_finite_differences(size: int) -> None:
    weights, *others = tensors(size)
    assert torch.autograd.gradcheck(lambda a: doubly_stochastic(a, *others), [weights], fast_mode=size > 7)


@SIZES
def test_penalty_and_gradient_equal_the_naive_reading(size: int) -> None:
    weights, *others = tensors(size)
    ours, theirs = doubly_stochastic(weights, *others), naive.doubly_stochastic(weights, *others)
    assert_close(ours, theirs, rtol=1e-12, atol=0)
    assert_close(*(torch.autograd.grad(3 * one, weights) for one in (ours, theirs)), rtol=1e-12, atol=1e-15)


def test_attention_that_sums_to_one_everywhere_costs_nothing() -> None:
    weights, lengths = torch.eye(4).unsqueeze(1), torch.tensor([4])
    assert doubly_stochastic(weights, lengths, lengths) == 0
    assert doubly_stochastic(2 * weights, lengths, lengths) == 4


def test_what_is_past_the_end_is_never_looked_at() -> None:
    weights, lengths, positions, rows = tensors(7)
    steps_TB = torch.arange(7).unsqueeze(1) < lengths
    open_TBS = steps_TB.unsqueeze(2) & (torch.arange(8) < positions.unsqueeze(1))
    spoilt = weights.detach().where(open_TBS, torch.nan).requires_grad_()
    loss = doubly_stochastic(spoilt, lengths, positions, rows)
    assert_close(loss, doubly_stochastic(weights, lengths, positions, rows), rtol=0, atol=0)
    [gradient] = torch.autograd.grad(loss, spoilt)
    assert gradient.isfinite().all() and not gradient[~open_TBS].any()


def test_sizes_that_do_not_agree_are_refused() -> None:
    weights, lengths, positions, _ = tensors(7)
    with pytest.raises(ShapeError):
        doubly_stochastic(weights, lengths[:2], positions)
