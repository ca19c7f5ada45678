"""Products in C: those of torch up to rounding, each row with bits of its own, whatever the sizes and the threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from anaphora.kernels import compiled
from anaphora.kernels.prepared import prepare
from anaphora.kernels.runtime import current, running
from tests.runtimes import updating

pytestmark = pytest.mark.skipif(
    not compiled.has_gemm() or not torch.cpu.get_capabilities()["avx2"],
    reason="the library was not built, or the processor lacks AVX2",
)

SIZES = st.one_of(st.integers(1, 40), st.sampled_from([130, 513]))
"""About the edges of tiles and panels, and those of the blocks that a long sum is cut into."""


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def near(found: Tensor, a_MK: Tensor, b_KN: Tensor) -> bool:
    """As near to the product in double precision as single precision gets with sums of this size."""
    exact, size = a_MK.double() @ b_KN.double(), a_MK.double().abs() @ b_KN.double().abs()
    return bool(((found - exact).abs() <= 1e-5 * size).all())


@settings(deadline=None, max_examples=40)
@given(M=SIZES, N=SIZES, K=SIZES)
def test_both_products_are_those_of_double_precision_up_to_rounding(M: int, N: int, K: int) -> None:
    a, b = normal(M, K), normal(K, N, seed=1)
    from_columns, from_rows = compiled.pack_columns(b), compiled.pack_rows(b.T)
    assert torch.equal(from_columns.numbers, from_rows.numbers)
    matmul = compiled.gemm(a, from_rows)
    assert near(matmul, a, b)
    assert torch.equal(compiled.gemm_of_columns(a.T, from_columns), matmul)


@settings(deadline=None, max_examples=40)
@given(rows=st.integers(1, 40), N=SIZES, K=SIZES, data=st.data())
def test_a_row_has_the_same_bits_whatever_stands_beside_it(rows: int, N: int, K: int, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, rows - 1))
    a, b = normal(rows, K), compiled.pack_rows(normal(N, K, seed=1))
    alone = compiled.gemm(a[row : row + 1], b)
    beside_nan = torch.full_like(a, torch.nan)
    beside_nan[row] = a[row]
    assert torch.equal(compiled.gemm(a, b)[row : row + 1], alone)
    assert torch.equal(compiled.gemm(beside_nan, b)[row : row + 1], alone)


@pytest.mark.parametrize(("M", "N", "K"), [(20, 300, 200), (300, 20, 200), (70, 90, 600)])
def test_the_number_of_threads_changes_no_bit(M: int, N: int, K: int) -> None:
    a, b = normal(M, K), normal(K, N, seed=1)
    made = []
    for count in (1, 2, 3):
        with threads(count):
            panels = compiled.pack_columns(b)
            made.append((compiled.gemm(a, panels), compiled.gemm_of_columns(a.T, panels)))
    for matmul, of_columns in made[1:]:
        assert torch.equal(matmul, made[0][0])
        assert torch.equal(of_columns, made[0][1])


def test_nothing_is_a_sum_of_nothing() -> None:
    assert compiled.gemm(normal(0, 3), compiled.pack_rows(normal(5, 3))).shape == (0, 5)
    assert torch.equal(compiled.gemm(normal(4, 0), compiled.pack_rows(normal(5, 0))), torch.zeros(4, 5))


def test_blocks_of_rows_keep_their_shape() -> None:
    a, b = normal(2, 3, 7), normal(5, 7, seed=1)
    panels = compiled.pack_rows(b)
    assert torch.equal(compiled.gemm(a, panels).flatten(0, 1), compiled.gemm(a.flatten(0, 1), panels))


def test_without_c_products_are_those_of_torch() -> None:
    a, weight = normal(7, 600), normal(9, 600, seed=1)
    with updating(backend="torch"):
        plain = prepare(weight, 7).times(a)
    with updating(backend="gemm"):
        assert not torch.equal(prepare(weight, 7).times(a), plain)
        with running(replace(current(), kernels="python")):
            assert torch.equal(prepare(weight, 7).times(a), plain)
