"""Products of every backend: the same as plain ones up to their rounding, chosen by the processor, a row for itself."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.backends import (
    Backend,
    InferencePrecision,
    _processor_has,
    backend_for,
    obstacle,
    precision_of,
    without_c,
)
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.linear import linear
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.tensor_backends import for_inference, for_training, prepare
from tests.runtimes import updating

from .exactness import EACH_OF_TRAINING, drawn, small_network

TOLERANCE: dict[Backend, float] = {"torch": 1e-5, "gemm": 1e-5, "bf16": 2e-2, "gemm-bf16": 2e-2}
"""Of the norm of what is compared, or of the terms that it is the sum of: these may cancel, their roundings do not."""


def assert_near(found: Tensor, exact: Tensor, backend: Backend, terms: Tensor | None = None) -> None:
    assert found.dtype == torch.float32
    size = float((exact if terms is None else terms).norm())
    assert float((found - exact).norm()) <= TOLERANCE[backend] * size


@EACH_OF_TRAINING
@settings(max_examples=25)
@given(rows=st.integers(1, 70), inner=st.integers(1, 70), outer=st.integers(1, 70))
def test_every_product_is_that_of_torch_up_to_rounding(backend: Backend, rows: int, inner: int, outer: int) -> None:
    weight, a, dy = drawn(outer, inner), drawn(rows, inner, seed=1), drawn(rows, outer, seed=2)
    with updating(backend=backend):
        ready = prepare(weight)
    assert_near(ready.times(a), a @ weight.T, backend, a.abs() @ weight.abs().T)
    assert_near(ready.back(dy), dy @ weight, backend, dy.abs() @ weight.abs())
    assert_near(ready.outer(dy, a), dy.T @ a, backend, dy.abs().T @ a.abs())


def trained(backend: Backend) -> list[Tensor]:
    """Loss and gradients of a small recurrent network."""
    leaves, loss = small_network()
    with updating(backend=backend):
        found = loss()
    return [found.detach(), *torch.autograd.grad(found, leaves)]


@EACH_OF_TRAINING
def test_a_network_has_the_loss_and_gradients_of_torch_up_to_rounding(backend: Backend) -> None:
    for found, exact in zip(trained(backend), trained("torch"), strict=True):
        assert_near(found, exact, backend)


@pytest.mark.parametrize("backend", ["gemm", "bf16", "gemm-bf16"])
def test_double_precision_is_always_of_torch(backend: Backend) -> None:
    weight, a = drawn(5, 4).double(), drawn(3, 4).double()
    with updating(backend=backend):
        ready = prepare(weight)
    assert torch.equal(ready.times(a), a @ weight.T)
    assert_close(ready.outer(ready.times(a), a), (a @ weight.T).T @ a)


AVX2: frozenset[str] = frozenset({"avx2"})
FMA = AVX2 | {"fma3"}


@pytest.mark.parametrize(
    ("precision", "features", "expected"),
    [
        ("auto", frozenset(), "torch"),
        ("auto", AVX2, "torch"),
        ("auto", FMA, "gemm"),
        ("auto", FMA | {"avx512_f"}, "gemm"),
        ("auto", FMA | {"avx512_bf16"}, "gemm-bf16"),
        ("auto", FMA | {"amx_bf16"}, "gemm-bf16"),
        ("fp32", FMA | {"avx512_bf16"}, "gemm"),
        ("fp32", AVX2, "torch"),
        ("bf16", AVX2, "bf16"),
        ("bf16", FMA | {"avx512_bf16"}, "gemm-bf16"),
        ("int8", frozenset(), "gemm-int8"),
    ],
)
def test_the_processor_decides(precision: InferencePrecision, features: frozenset[str], expected: Backend) -> None:
    packs = has_gemm(precision_of(expected))
    assert backend_for(precision, has=features.__contains__) == (expected if packs else without_c(expected))


@pytest.mark.parametrize(
    ("precision", "expected"), [("auto", "torch"), ("fp32", "torch"), ("bf16", "bf16"), ("int8", "int8")]
)
def test_other_devices_are_left_to_torch(precision: InferencePrecision, expected: Backend) -> None:
    assert backend_for(precision, "cuda", has=lambda feature: True) == expected


@pytest.mark.parametrize(
    ("supported", "lacks"),
    [
        ({"fp32", "bf16", "int8"}, ("", "", "")),
        ({"int8"}, ("needs AVX2 for fp32", "needs AVX-512 with bf16 for bf16", "")),
        (set[str](), ("multiplies on x86-64 processors alone",) * 3),
    ],
)
def test_a_processor_that_the_library_in_c_does_not_serve_is_named_with_what_it_lacks(
    supported: set[str], lacks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anaphora.kernels.backends.has_gemm", lambda precision="fp32": precision in supported)
    monkeypatch.setattr("anaphora.kernels.backends.library_obstacle", lambda: "")
    found = [obstacle(backend).partition(",")[0] for backend in ("torch", "bf16", "int8")]
    assert found == list(lacks)


def test_a_torch_that_cannot_name_the_processors_features_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("torch.cpu.get_capabilities")
    monkeypatch.setattr("anaphora.kernels.backends.has", lambda name: False)
    _processor_has.cache_clear()
    try:
        assert backend_for("auto") == "torch"
    finally:
        _processor_has.cache_clear()


@pytest.mark.parametrize("backend", ["int8", "gemm-int8"])
def test_training_refuses_int8_and_double_precision_is_not_rounded_to_it(backend: Backend) -> None:
    weight, a = drawn(5, 4).double(), drawn(3, 4).double()
    assert_close(for_inference(backend, weight).times(a), a @ weight.T)
    with pytest.raises(ValueError, match="not in int8"):
        for_training(backend, weight.float())


WIDTHS = st.sampled_from([16, 20, 33, 64])


@pytest.mark.skipif(not has_gemm(), reason="the library was not built, or AVX2 is missing")
@settings(max_examples=50)
@given(rows=st.integers(1, 70), chosen=st.integers(1, 64), inner=WIDTHS, outer=st.integers(1, 200))
def test_a_column_has_the_same_bits_beside_any_other_columns(rows: int, chosen: int, inner: int, outer: int) -> None:
    block, weight = drawn(rows, inner), drawn(outer, inner, seed=1)
    columns = torch.randperm(outer, generator=torch.Generator().manual_seed(chosen))[:chosen]
    assert torch.equal(linear(block, weight[columns]), linear(block, weight)[:, columns])


@pytest.mark.parametrize("wanted", [(True, False), (False, True)])
def test_only_what_is_wanted_has_a_gradient(wanted: tuple[bool, bool]) -> None:
    leaves = [drawn(3, 5), drawn(4, 5, seed=1)]
    for leaf, wants in zip(leaves, wanted, strict=True):
        leaf.requires_grad_(wants)
    with updating(backend="torch"):
        linear(*leaves).sum().backward()  # type: ignore[no-untyped-call]
    assert [leaf.grad is not None for leaf in leaves] == list(wanted)


@EACH_OF_TRAINING
def test_training_leaves_out_what_lies_past_the_end_of_a_sentence(backend: Backend) -> None:
    a, weight, lengths = drawn(3, 7, 5), drawn(4, 5, seed=1), torch.tensor([7, 1, 4])
    there = torch.arange(7) < lengths.unsqueeze(1)
    beside = a.masked_fill(~there.unsqueeze(2), torch.nan)
    found = []
    for block, own in ((a, None), (beside, lengths)):
        leaves = block.clone().requires_grad_(), weight.clone().requires_grad_()
        with updating(backend=backend):
            y = linear(*leaves, own)
            (y * drawn(3, 7, 4, seed=2))[there].sum().backward()  # type: ignore[no-untyped-call]
        found.append((y[there], *(leaf.grad for leaf in leaves)))
    for whole, within in zip(*found, strict=True):
        assert_close(within, whole)
    assert not y[~there].any()


def test_only_needed_matrices_have_gradients() -> None:
    matmuls = Matmuls({"w": drawn(4, 5), "v": drawn(4, 5)}, {}, recording=True)
    block, dy = drawn(2, 3, 5, seed=1), drawn(2, 3, 4, seed=2)
    for name in ("w", "v"):
        matmuls.times(name, block)
        matmuls.times_back(name, dy)
    assert matmuls.gradients(["w"]).keys() == {"w"}
