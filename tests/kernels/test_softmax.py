"""Projection, softmax and cross-entropy: what they keep and refuse; their proofs are in ``outputs/test_losses.py``."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from anaphora.errors import ShapeError
from anaphora.kernels import softmax
from anaphora.kernels.softmax import log_softmax, softmax_loss

from .exactness import leaves_of


def tensors(rows: int, hidden: int, size: int) -> tuple[list[Tensor], Tensor]:
    """h, W and b with gradients; targets."""
    return leaves_of((rows, hidden), (size, hidden), (size,)), torch.arange(rows) % size


class Largest(TorchDispatchMode):
    """The most elements of any tensor that an operation gave."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.elements = max(self.elements, *(one.numel() for one in tree_leaves(result)))
        return result


def test_the_scores_of_all_rows_are_never_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, hidden, size, chunk = 200, 2, 50, 50 * 16
    monkeypatch.setattr(softmax, "CHUNK", chunk)
    leaves, targets = tensors(rows, hidden, size)
    with Largest() as found:
        loss = softmax_loss(*leaves, targets)
        torch.autograd.grad(loss, leaves)
    assert rows * hidden <= found.elements <= chunk < rows * size


def test_changing_the_weights_after_the_forward_pass_leaves_the_gradient_that_belongs_to_it() -> None:
    leaves, targets = tensors(11, 7, 5)
    expected = torch.autograd.grad(softmax_loss(*leaves, targets), leaves)
    loss = softmax_loss(*leaves, targets)
    with torch.no_grad():
        leaves[1].zero_()
    assert_close(torch.autograd.grad(loss, leaves), expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("shapes", "complaint"),
    [
        (((5, 3), (7, 3), (6,), 5), "bias_V has V=6, but weight_VH has V=7"),
        (((5, 3), (7, 3), (7,), 4), "targets_N has N=4, but hidden_NH has N=5"),
        (((5, 1, 3), (7, 3), (7,), 5), "hidden_NH should have 2 dimensions"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(shapes: tuple[Any, ...], complaint: str) -> None:
    *leaves, rows = shapes
    with pytest.raises(ShapeError, match=complaint):
        softmax_loss(*(torch.zeros(shape) for shape in leaves), torch.zeros(rows, dtype=torch.int64))


@given(rows=st.integers(0, 5), size=st.integers(1, 70), padding=st.integers(0, 40), spread=st.floats(0.1, 40))
def test_log_softmax_is_exact_and_blind_to_padding(rows: int, size: int, padding: int, spread: float) -> None:
    z_NV = spread * torch.randn(rows, size, generator=torch.Generator().manual_seed(size))
    found_NV = log_softmax(z_NV.clone())
    assert_close(found_NV, torch.log_softmax(z_NV.double(), 1).float(), rtol=1e-6, atol=2e-6)
    wider_NW = log_softmax(functional.pad(z_NV, (0, padding), value=-torch.inf))
    assert torch.equal(wider_NW[:, :size], found_NV) and bool((wider_NW[:, size:] == -torch.inf).all())
