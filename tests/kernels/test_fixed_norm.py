"""Rows at a fixed norm, as arrays and as tensors; its gradient: ``test_single_kernels.py``."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.fixed_norm import FixedNorm

ROWS = torch.randn(5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("first", [0, 3])
def test_arrays_and_tensors_without_a_gradient_have_the_same_bits_in_any_batch(first: int) -> None:
    fixed, rows = FixedNorm(2.5, first), ROWS.float()
    found = fixed(rows.numpy())
    assert_close(torch.from_numpy(found), fixed(ROWS).float())
    np.testing.assert_array_equal(fixed(rows).numpy(), found)
    np.testing.assert_array_equal(fixed(rows.numpy()[2:3]), found[2:3])


def test_a_row_of_zeros_stays_one() -> None:
    assert not FixedNorm(5.0)(np.zeros((2, 4), np.float32)).any()
