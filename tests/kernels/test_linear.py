"""One product: a row has the same bits anywhere; where it is recorded, a gradient in the backend of training."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from anaphora.kernels.backends import Backend, backend_for, runs_in_c, without_c
from anaphora.kernels.linear import linear
from anaphora.kernels.matmul import Matmuls
from tests.runtimes import updating

from .exactness import drawn

WIDTHS = st.sampled_from([16, 20, 33, 64])


NEEDS_GEMM = pytest.mark.skipif(backend_for("fp32") != "gemm", reason="torch's own products lack this")


@NEEDS_GEMM
@settings(max_examples=50, deadline=None)
@given(rows=st.integers(1, 70), chosen=st.integers(1, 64), inner=WIDTHS, outer=st.integers(1, 200))
def test_a_column_has_the_same_bits_whatever_columns_stand_beside_it(
    rows: int, chosen: int, inner: int, outer: int
) -> None:
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


@pytest.mark.parametrize("backend", ["torch", "bf16", "gemm", "gemm-bf16"])
def test_training_leaves_out_what_lies_past_the_end_of_a_sentence(backend: Backend) -> None:
    if without_c(backend) != backend and not runs_in_c(backend):
        pytest.skip("this processor lacks the product")
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
