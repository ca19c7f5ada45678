"""Layer normalisation and fixed norms: rows that stand for themselves, and what normalised units do not see."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Cell
from anaphora.kernels.eager import Eager
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.matmul import Matmuls


def normal(a_1BW: torch.Tensor, gain_W: torch.Tensor) -> torch.Tensor:
    ops = Eager(Matmuls({"norm.gain": gain_W}, {}, recording=False), "norm", a_1BW.shape[1])
    return ops.normal(a_1BW, "gain")[0]


@pytest.mark.parametrize("width", [20, 33, 512])
@pytest.mark.parametrize("rows", [1, 3, 8, 50])
def test_a_row_has_the_same_bits_alone_and_among_others(width: int, rows: int) -> None:
    a_1BW = torch.randn(1, rows, width, generator=torch.Generator().manual_seed(3))
    gain_W = torch.randn(width, generator=torch.Generator().manual_seed(4))
    together = normal(a_1BW, gain_W)
    for row in range(rows):
        alone = normal(a_1BW[:, row : row + 1], gain_W)
        assert torch.equal(alone[0, 0], together[0, row])


def test_a_row_of_equal_numbers_becomes_zero() -> None:
    zeros = normal(torch.full((1, 1, 5), 3.0), torch.ones(5))
    assert not zeros.any()


def test_normalised_units_do_not_see_the_size_of_their_matrices(cell: Cell, layers: Callable) -> None:
    network = layers(cell, 7, height=2, layer_norm=True)
    larger = {
        name: 1000 * leaf.detach()
        for name, leaf in network.leaves.items()
        if name in ("input0.weight", "input1.weight", *(f"layer1.{matrix}" for matrix, _ in cell.matmuls))
    }
    assert_close(network.fast(**larger), network.fast(), rtol=0, atol=1e-3)
    assert_close(network.fast(**larger), network.fast(**{n: 7 * m for n, m in larger.items()}), rtol=0, atol=1e-9)


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
