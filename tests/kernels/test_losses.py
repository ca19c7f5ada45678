"""Losses of states and attention where they end: at nothing, far out, and for tensors that do not agree."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.densities import MixtureShape
from anaphora.kernels.losses import label_loss, squared_error
from anaphora.kernels.mixture import mixture_loss
from anaphora.kernels.penalties import change_penalty, doubly_stochastic, guidance, size_penalty

TWO = torch.tensor([4, 4])


def test_attention_that_sums_to_one_everywhere_costs_nothing() -> None:
    weights, lengths = torch.eye(4).unsqueeze(1), torch.tensor([4])
    assert doubly_stochastic(weights, lengths, lengths) == 0
    assert doubly_stochastic(2 * weights, lengths, lengths) == 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_that_are_next_to_nothing_give_finite_gradients_and_those_of_nothing_none(dtype: torch.dtype) -> None:
    least = torch.finfo(dtype).tiny
    weights = torch.tensor([[[least, 0.0, 1.0, least / 4]]], dtype=dtype, requires_grad=True)
    loss = guidance(weights, torch.tensor([[[0.25, 0.25, 0.25, 0.25]]]))
    [gradient] = torch.autograd.grad(loss, weights)
    assert torch.isfinite(loss) and torch.isfinite(gradient).all()
    assert gradient[0, 0, 0] * least == pytest.approx(-0.25) and gradient[0, 0, 1] == gradient[0, 0, 3] == 0


def test_links_of_nothing_cost_nothing() -> None:
    weights = torch.rand(7, 3, 7).requires_grad_()
    loss = guidance(weights, torch.zeros(7, 3, 7))
    assert loss == 0 and not torch.autograd.grad(loss, weights)[0].any()


def test_a_state_that_never_changes_costs_its_size_alone() -> None:
    states = torch.full((5, 1, 4), 3.0)
    assert size_penalty(states, torch.tensor([5])) == 5 * 9 and change_penalty(states, torch.tensor([5])) == 0


def test_scores_far_from_0_stay_finite() -> None:
    z_NC = torch.tensor([[1e4, -1e4]], requires_grad=True)
    loss = label_loss(z_NC, torch.tensor([[1.0, 1.0]]))
    assert_close(loss, torch.tensor(1e4))
    assert_close(torch.autograd.grad(loss, z_NC)[0], torch.tensor([[0.0, -1.0]]))


@pytest.mark.parametrize(
    ("loss", "complaint"),
    [
        (lambda: doubly_stochastic(torch.zeros(7, 3, 8), TWO, torch.ones(3)), "B=2"),
        (lambda: guidance(torch.zeros(7, 3, 7), torch.zeros(6, 3, 7)), "T=6"),
        (lambda: size_penalty(torch.zeros(4, 3, 2), TWO), "B=2"),
        (lambda: change_penalty(torch.zeros(4, 3, 2), TWO), "B=2"),
        (lambda: label_loss(torch.zeros(2, 4), torch.zeros(2, 3)), "labels_NC has C=3"),
        (lambda: squared_error(torch.zeros(2, 4), torch.zeros(3, 4)), "N=3"),
        (
            lambda: mixture_loss(torch.zeros(2, 17), torch.zeros(2, 2), MixtureShape(3, 2, True, 0.05)),
            "should have 18 parameters",
        ),
    ],
)
def test_sizes_that_do_not_agree_are_refused(loss: Callable[[], Tensor], complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        loss()
