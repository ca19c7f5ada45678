"""Rows at a fixed norm: what the paper says, with its gradient, as arrays and as tensors."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.fixed_norm import FixedNorm

ROWS = torch.randn(5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def naive(x: torch.Tensor, radius: float, first: int) -> torch.Tensor:
    """Return r x / |x|, one block of a row after the other."""
    rows = [
        torch.cat([radius * part / torch.linalg.vector_norm(part) for part in (x_W[:first], x_W[first:])]) for x_W in x
    ]
    return torch.stack(rows)


@pytest.mark.parametrize("first", [0, 3])
def test_rows_and_their_gradients_are_those_of_the_plain_reading(first: int) -> None:
    fixed, x, weights = FixedNorm(2.5, first), ROWS.clone().requires_grad_(), torch.arange(35.0).double().view(5, 7)
    found, expected = fixed(x), naive(x, 2.5, first) if first else 2.5 * torch.nn.functional.normalize(x)
    assert_close(found, expected)
    gradients = (torch.autograd.grad((y * weights).sum(), x) for y in (found, expected))
    assert_close(*gradients)
    assert torch.autograd.gradcheck(fixed, x)


@pytest.mark.parametrize("first", [0, 3])
def test_arrays_and_tensors_without_a_gradient_have_the_same_bits_in_any_batch(first: int) -> None:
    fixed, rows = FixedNorm(2.5, first), ROWS.float()
    found = fixed(rows.numpy())
    assert_close(torch.from_numpy(found), fixed(ROWS).float())
    np.testing.assert_array_equal(fixed(rows).numpy(), found)
    np.testing.assert_array_equal(fixed(rows.numpy()[2:3]), found[2:3])


def test_a_row_of_zeros_stays_one() -> None:
    assert not FixedNorm(5.0)(np.zeros((2, 4), np.float32)).any()
