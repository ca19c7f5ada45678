"""Products in C: exact up to their precision, each row with bits of its own, whatever the sizes, threads, processor."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from anaphora.kernels.compiled import gemm as products
from anaphora.kernels.compiled.gemm import PackedMatrix, PackedPrecision, has_gemm
from anaphora.kernels.compiled.library import call, has, run
from anaphora.kernels.tensor_backends import for_inference
from tests.runtimes import threads

from .exactness import drawn, over_tensors

pytestmark = pytest.mark.skipif(not has_gemm(), reason="the library was not built, or AVX2 is missing")

gemm, gemm_of_columns = over_tensors(products.gemm), over_tensors(products.gemm_of_columns)
pack_rows, pack_columns = over_tensors(products.pack_rows), over_tensors(products.pack_columns)
LEVELS = {"baseline": 0, "avx2": 1, "avx512": 2, "avx512_vnni": 3, "avx512_bf16": 4, "amx": 5}
"""Instructions that make a difference, as ``processor.h`` numbers them."""
HERE = call("instructions") if has("instructions") else 0
WAYS: list[tuple[str, PackedPrecision]] = [
    ("avx2", "fp32"),
    ("avx512", "fp32"),
    ("baseline", "int8"),
    ("avx512_vnni", "int8"),
    ("avx512_bf16", "bf16"),
    ("amx", "bf16"),
    ("amx", "int8"),
]


def each(ways: list[tuple[str, PackedPrecision]]) -> pytest.MarkDecorator:
    """A test of each way that this processor has."""
    lacking = {way: pytest.mark.skipif(LEVELS[way[0]] > HERE, reason=f"the processor lacks {way[0]}") for way in ways}
    parameters = [pytest.param(*way, marks=lacking[way], id="-".join(way)) for way in ways]
    return pytest.mark.parametrize(("level", "precision"), parameters)


EVERY_WAY = each(WAYS)
OF_TRAINING = each([way for way in WAYS if way[1] != "int8"])
OF_INT8 = each([way for way in WAYS if way[1] == "int8"])
SIZES = st.one_of(st.integers(1, 40), st.sampled_from([65, 130, 513, 1030]))
"""About the edges of tiles and panels, and those of the blocks that a long sum is cut into."""


@contextmanager
def limited(level: str) -> Iterator[None]:
    """As if the processor had no instructions beyond these."""
    run("limit_instructions", LEVELS[level])
    try:
        yield
    finally:
        run("limit_instructions", max(LEVELS.values()))


def near(found: Tensor, a_MK: Tensor, b_KN: Tensor, precision: PackedPrecision) -> bool:
    """Whether each number, in fp32 or bf16, is as near to the exact product as its precision allows.

    A sum of K products is off by K roundings of the sum of their sizes at most; in bf16 the operands are taken as
    rounded, products below 2^-126 count as nothing, and the sum is rounded to 8 bits.
    """
    rounds = precision == "bf16"
    a, b = (x.bfloat16().double() if rounds else x.double() for x in (a_MK, b_KN))
    exact, size = a @ b, a.abs() @ b.abs()
    of_sum = len(b) * (2.0**-23 * size + 2.0**-126)
    return bool(((found - exact).abs() <= of_sum + (2.0**-8 * exact.abs() if rounds else 0.0)).all())


@OF_TRAINING
@settings(max_examples=15)
@given(M=SIZES, N=SIZES, K=SIZES)
def test_both_products_are_exact_to_rounding(level: str, precision: PackedPrecision, M: int, N: int, K: int) -> None:
    a, b = drawn(M, K), drawn(K, N, seed=1)
    with limited(level):
        from_columns, from_rows = pack_columns(b, precision), pack_rows(b.T, precision)
        assert np.array_equal(from_columns.numbers.view(np.int32), from_rows.numbers.view(np.int32))
        matmul = gemm(a, from_rows)
        assert near(matmul, a, b, precision)
        assert torch.equal(gemm_of_columns(a.T, from_columns), matmul)


@OF_TRAINING
@settings(max_examples=15)
@given(M=SIZES, N=SIZES, before=st.integers(0, 40), K=SIZES)
def test_a_product_of_columns_goes_on_from_another(
    level: str, precision: PackedPrecision, M: int, N: int, before: int, K: int
) -> None:
    first, rows = 2 * before, 2 * before + K  # bf16 takes them in pairs
    a, b = drawn(rows, M), drawn(rows, N, seed=1)
    with limited(level):
        whole = gemm_of_columns(a, pack_columns(b, precision))
        begun = gemm_of_columns(a[:first], pack_columns(b[:first], precision))
        rounding = 2.0**-8 * (begun.abs() + 2.01 * whole.abs()) + 1e-5  # of bf16: twice here, once there
        done = gemm_of_columns(a[first:], pack_columns(b[first:], precision), begun)
    assert done.data_ptr() == begun.data_ptr()
    assert torch.equal(done, whole) if precision == "fp32" else ((done - whole).abs() <= rounding).all()


@EVERY_WAY
@settings(max_examples=15)
@given(rows=st.integers(1, 70), N=SIZES, K=SIZES, data=st.data())
def test_a_row_has_the_same_bits_whatever_stands_beside_it(
    level: str, precision: PackedPrecision, rows: int, N: int, K: int, data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, rows - 1))
    a, weight = drawn(rows, K), drawn(N, K, seed=1)
    with limited(level):
        b = pack_rows(weight, precision)
        alone = gemm(a[row : row + 1], b)
        beside_nan = torch.full_like(a, torch.nan)
        beside_nan[row] = a[row]
        assert torch.equal(gemm(a, b)[row : row + 1], alone)
        assert torch.equal(gemm(beside_nan, b)[row : row + 1], alone)


@EVERY_WAY
@pytest.mark.parametrize(("M", "N", "K"), [(20, 300, 200), (300, 20, 200), (70, 190, 1200), (3, 3, 60_000)])
def test_the_number_of_threads_changes_no_bit(level: str, precision: PackedPrecision, M: int, N: int, K: int) -> None:
    a, b = drawn(M, K), drawn(K, N, seed=1)
    made = []
    for count in (1, 2, 3):
        with threads(count), limited(level):
            panels = pack_rows(b.T, precision)
            made.append(gemm(a, panels))
            if precision != "int8":
                assert torch.equal(gemm_of_columns(a.T, pack_columns(b, precision)), made[0])
            assert torch.equal(made[-1], made[0])


@pytest.mark.skipif(LEVELS["avx512"] > HERE, reason="the processor lacks AVX-512")
@settings(max_examples=15)
@given(M=SIZES, N=SIZES, K=SIZES)
def test_in_single_precision_all_processors_give_the_same_bits(M: int, N: int, K: int) -> None:
    a, weight = drawn(M, K), drawn(N, K, seed=1)
    made = []
    for level in ("avx2", "avx512"):
        with limited(level):
            b = pack_rows(weight)
            made.append((b.numbers, gemm(a, b)))
    assert np.array_equal(made[0][0], made[1][0])
    assert torch.equal(made[0][1], made[1][1])


def test_a_sum_is_made_in_the_order_of_its_terms() -> None:
    # 2^24 and then ones: every one is lost; the other way round every one counts
    large_first = torch.ones(1, 600).index_fill(1, torch.tensor(0), 2.0**24)
    ones = pack_rows(torch.ones(1, 600))
    assert gemm(large_first, ones).item() == 2.0**24
    assert gemm(large_first.flip(1), ones).item() == 2.0**24 + 600


@EVERY_WAY
def test_nothing_is_a_sum_of_nothing(level: str, precision: PackedPrecision) -> None:
    with limited(level):
        assert gemm(drawn(0, 3), pack_rows(drawn(5, 3), precision)).shape == (0, 5)
        assert gemm(drawn(4, 3), pack_rows(drawn(0, 3), precision)).shape == (4, 0)
        assert torch.equal(gemm(drawn(4, 0), pack_rows(drawn(5, 0), precision)), torch.zeros(4, 5))


@OF_TRAINING
def test_what_is_not_a_number_and_infinity_spread_as_in_any_sum(level: str, precision: PackedPrecision) -> None:
    a = torch.tensor([[1.0, torch.inf], [torch.nan, 1.0], [2.0, 3.0]])
    with limited(level):
        found = gemm(a, pack_rows(torch.ones(1, 2), precision)).flatten().tolist()
    assert found[0] == torch.inf and found[1] != found[1] and found[2] == 5.0


def quantized(x_RK: Tensor) -> tuple[Tensor, Tensor]:
    """Rows scaled so that the largest number of each becomes 127, rounded, and the scales."""
    scale_R1 = x_RK.abs().amax(1, keepdim=True) / 127
    return (x_RK * scale_R1.reciprocal()).round().double(), scale_R1


@OF_INT8
@settings(max_examples=15)
@given(M=SIZES, N=SIZES, K=SIZES)
def test_int8_sums_rounded_numbers_exactly(level: str, precision: PackedPrecision, M: int, N: int, K: int) -> None:
    a, weight = drawn(M, K), drawn(N, K, seed=1)
    with limited(level):
        found = gemm(a, pack_rows(weight, precision))
    (q_a, of_a), (q_weight, of_weight) = quantized(a), quantized(weight)
    assert torch.equal(found, (q_a @ q_weight.T).float() * (of_weight.T * of_a))
    # half a step of either side, times the size of the other
    off = a.abs() @ of_weight.expand(N, K).T / 2 + of_a * (weight.abs() + of_weight / 2).sum(1) / 2
    assert bool(((found - a @ weight.T).abs() <= 1.001 * off).all())


@OF_INT8
def test_in_int8_zeros_stay_0_and_what_is_not_finite_is_no_number(level: str, precision: PackedPrecision) -> None:
    a = drawn(5, 70)
    a[1] = 0
    a[2, 69], a[3, 0] = torch.inf, torch.nan
    weight = drawn(9, 70, seed=1)
    weight[4] = 0
    with limited(level):
        found = gemm(a, pack_rows(weight, precision))
    assert not found[1].any() and not found[[0, 4], 4].any()
    assert bool(found[2:4].isnan().all()) and bool(found[[0, 1, 4]].isfinite().all())


@settings(max_examples=15)
@given(M=SIZES, N=SIZES, K=SIZES, smallest=st.sampled_from([1.0, 1e-37, 1e-39, 0.0, torch.inf, torch.nan]))
def test_in_int8_all_processors_give_the_same_bits_and_so_does_torch(M: int, N: int, K: int, smallest: float) -> None:
    a, weight = drawn(M, K), drawn(N, K, seed=1)
    a[M // 2] *= smallest
    weight[N // 2] *= 1.0 if smallest != smallest else min(smallest, 1.0)
    made = [for_inference("int8", weight).times(a)]
    for level in dict.fromkeys(way for way, precision in WAYS if precision == "int8" and LEVELS[way] <= HERE):
        with limited(level):
            made.append(for_inference("gemm-int8", weight).times(a))
    assert all(torch.equal(one.view(torch.int32), made[1].view(torch.int32)) for one in made[2:])
    assert torch.equal(made[0].nan_to_num(1e9), made[1].nan_to_num(1e9))  # of those that are not numbers any


def test_int8_refuses_sums_that_may_overflow_and_products_of_training() -> None:
    with pytest.raises(ValueError, match="at most 65536"):
        pack_rows(torch.empty(1, 65537), "int8")
    with pytest.raises(ValueError, match="not in int8"):
        gemm_of_columns(drawn(3, 2), PackedMatrix(np.empty(0), 3, 1, "int8"))


@OF_INT8
def test_the_longest_sum_of_int8_does_not_overflow(level: str, precision: PackedPrecision) -> None:
    a = torch.ones(1, 65536)
    with limited(level):
        assert gemm(a, pack_rows(a, precision)).item() == pytest.approx(65536)
        assert gemm(a, pack_rows(-a, precision)).item() == pytest.approx(-65536)
