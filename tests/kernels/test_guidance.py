"""The cost of looking elsewhere than links say: its gradient, its naive reading, weights that are next to nothing."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels import naive
from anaphora.kernels.guidance import guidance


def tensors(size: int) -> tuple[Tensor, Tensor]:
    """Numbers in the place of attention weights, with a gradient, and links to about half of the positions."""
    generator = torch.Generator().manual_seed(size)
    weights = 0.1 + torch.rand(size, 3, size, generator=generator, dtype=torch.float64)
    links = (torch.rand(size, 3, size, generator=generator) < 0.5).double()
    links[0, 0, 0] = 1
    return weights.requires_grad_(), links / links.sum(-1, keepdim=True).clamp_min(1)


@pytest.mark.parametrize(("size", "fast"), [(1, False), (7, False), (63, True)])
def test_the_derived_gradient_is_that_of_finite_differences(size: int, fast: bool) -> None:
    weights, links = tensors(size)
    assert torch.autograd.gradcheck(lambda a: guidance(a, links), [weights], fast_mode=fast)


@pytest.mark.parametrize("size", [1, 7, 63])
def test_cost_and_gradient_equal_the_naive_reading(size: int) -> None:
    weights, links = tensors(size)
    ours, theirs = guidance(weights, links), naive.guidance(weights, links)
    assert_close(ours, theirs, rtol=1e-12, atol=0)
    assert_close(torch.autograd.grad(3 * ours, weights), torch.autograd.grad(3 * theirs, weights), rtol=1e-12, atol=0)


def test_what_is_not_linked_is_never_looked_at() -> None:
    weights, links = tensors(7)
    expected = torch.autograd.grad(guidance(weights, links), weights)[0]
    spoilt = weights.detach().where(links > 0, torch.nan).requires_grad_()
    loss = guidance(spoilt, links)
    assert_close(loss, guidance(weights, links), rtol=0, atol=0)
    [found] = torch.autograd.grad(loss, spoilt)
    assert_close(found, expected, rtol=0, atol=0)
    assert not found[links == 0].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_that_are_next_to_nothing_give_finite_gradients_and_those_of_nothing_none(dtype: torch.dtype) -> None:
    least = torch.finfo(dtype).tiny
    weights = torch.tensor([[[least, 0.0, 1.0, least / 4]]], dtype=dtype, requires_grad=True)
    loss = guidance(weights, torch.tensor([[[0.25, 0.25, 0.25, 0.25]]]))
    [gradient] = torch.autograd.grad(loss, weights)
    assert torch.isfinite(loss) and torch.isfinite(gradient).all()
    assert gradient[0, 0, 0] * least == pytest.approx(-0.25) and gradient[0, 0, 1] == gradient[0, 0, 3] == 0


def test_links_of_nothing_cost_nothing() -> None:
    weights, links = tensors(7)
    loss = guidance(weights, torch.zeros_like(links))
    assert loss == 0 and not torch.autograd.grad(loss, weights)[0].any()


def test_gradients_of_gradients_are_refused() -> None:
    weights, links = tensors(1)
    with pytest.raises(NotImplementedError, match="gradients of gradients"):
        torch.autograd.grad(guidance(weights, links), weights, create_graph=True)


def test_links_of_another_shape_are_refused() -> None:
    weights, links = tensors(7)
    with pytest.raises(ShapeError, match="T=6"):
        guidance(weights, links[:6])
