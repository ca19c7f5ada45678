"""Products: memory matrices, and the gradient of each matrix as one product after the loop."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.matmul import Matmuls

WIDTHS = st.sampled_from([16, 20, 33, 64])


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@settings(max_examples=50, deadline=None)
@given(rows=st.integers(1, 30), row=st.integers(0, 29), sentence=st.integers(0, 4), inner=WIDTHS, outer=WIDTHS)
def test_a_row_of_a_memory_product_has_the_same_bits_alone(
    rows: int, row: int, sentence: int, inner: int, outer: int
) -> None:
    row = min(row, rows - 1)
    block, memory = normal(rows, 5, inner), normal(5, inner, outer, seed=1)
    together = Matmuls({}, {"m": memory}, recording=False).attend("m", block)
    one = slice(sentence, sentence + 1)
    alone = Matmuls({}, {"m": memory[one]}, recording=False).attend("m", block[row : row + 1, one])
    assert torch.equal(alone[0, 0], together[row, sentence])


@pytest.mark.parametrize("recording", [True, False])
def test_products_with_and_without_a_record_agree(recording: bool) -> None:
    weight, memory, block = normal(4, 5), normal(3, 5, 2, seed=1), normal(7, 3, 5, seed=2)
    matmuls = Matmuls({"w": weight}, {"m": memory}, recording)
    assert_close(matmuls.times("w", block), block @ weight.T)
    assert_close(matmuls.attend("m", block), torch.einsum("xbk,bkn->xbn", block, memory))


def test_gradients_add_up_over_steps_as_sentences_leave() -> None:
    weight, memory = normal(4, 5, dtype=torch.float64), normal(3, 5, 2, seed=1, dtype=torch.float64)
    weight.requires_grad_()
    memory.requires_grad_()
    matmuls = Matmuls({"w": weight.detach()}, {"m": memory.detach()}, recording=True)
    loss, back = torch.zeros((), dtype=torch.float64), []
    for step, rows in enumerate([3, 3, 1]):
        a, b = (normal(1, rows, 5, seed=9 * step + n, dtype=torch.float64) for n in (2, 3))
        dy = normal(1, rows, 4, seed=9 * step + 4, dtype=torch.float64)
        dz = normal(1, rows, 2, seed=9 * step + 5, dtype=torch.float64)
        assert_close(matmuls.times("w", a), (a @ weight.T).detach())
        matmuls.attend("m", b)
        loss = loss + (a @ weight.T * dy).sum() + (torch.einsum("xbk,bkn->xbn", b, memory[:rows]) * dz).sum()
        back.append((dy, dz))
    for dy, dz in reversed(back):
        assert_close(matmuls.times_back("w", dy), dy @ weight.detach())
        assert_close(matmuls.attend_back("m", dz), torch.einsum("xbn,bkn->xbk", dz, memory.detach()[: dz.shape[1]]))
    expected = dict(zip(("w", "m"), torch.autograd.grad(loss, (weight, memory)), strict=True))
    assert_close(matmuls.gradients(), expected)


def test_only_needed_matrices_have_gradients() -> None:
    matmuls = Matmuls({"w": normal(4, 5), "v": normal(4, 5)}, {}, recording=True)
    block, dy = normal(2, 3, 5, seed=1), normal(2, 3, 4, seed=2)
    for name in ("w", "v"):
        matmuls.times(name, block)
        matmuls.times_back(name, dy)
    assert matmuls.gradients(["w"]).keys() == {"w"}


def test_gradients_of_vectors_and_of_part_of_a_memory_add_up() -> None:
    matmuls = Matmuls({"b": torch.zeros(2)}, {"k": torch.zeros(3, 2)}, recording=True)
    matmuls.add_gradient("b", torch.tensor([1.0, 2.0]))
    matmuls.add_gradient("b", torch.tensor([3.0, 4.0]))
    matmuls.add_gradient("k", torch.ones(2, 2))
    matmuls.add_gradient("k", torch.ones(1, 2))
    expected = {"b": torch.tensor([4.0, 6.0]), "k": torch.tensor([[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]])}
    assert_close(matmuls.gradients(), expected)
    assert matmuls.gradients() == {}
