"""Losses of states, attention and real vectors where they end: at nothing, far out, for tensors that do not agree."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.densities import Mixture, MixtureShape
from anaphora.kernels.losses import label_loss, squared_error
from anaphora.kernels.mixture import mixture_loss, mixture_of
from anaphora.kernels.penalties import change_penalty, doubly_stochastic, guidance, size_penalty

from .exactness import doubles

TWO = torch.tensor([4, 4])
SHAPES = [MixtureShape(3, 2, True, 0.05), MixtureShape(3, 3, False, 0.05), MixtureShape(1, 1, False, 1e-3)]


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
        (lambda: mixture_loss(torch.zeros(2, 17), torch.zeros(2, 2), SHAPES[0]), "should have 18 parameters"),
    ],
)
def test_sizes_that_do_not_agree_are_refused(loss: Callable[[], Tensor], complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        loss()


@pytest.mark.parametrize("shape", SHAPES, ids=["correlated", "diagonal", "one"])
def test_the_loss_is_that_of_the_density(shape: MixtureShape) -> None:
    parameters_NP, targets_ND = doubles(7, shape.width), doubles(7, shape.size, seed=2)
    log_probs_N = Mixture.of(parameters_NP.numpy(), shape).log_probs(targets_ND.numpy())
    assert mixture_loss(parameters_NP, targets_ND, shape).item() == pytest.approx(-log_probs_N.sum(), rel=1e-12)


@given(st.integers(0, 1000), st.sampled_from([1.0, 30.0, 1e4, 1e8]))
@settings(max_examples=40)
def test_outputs_of_any_size_give_finite_losses_and_gradients_in_single_precision(seed: int, size: float) -> None:
    shape = MixtureShape(3, 2, True, 0.01)
    parameters_NP = (size * doubles(5, shape.width, seed=seed)).float().requires_grad_()
    loss = mixture_loss(parameters_NP, doubles(5, 2, seed=seed).float(), shape)
    loss.backward()
    assert parameters_NP.grad is not None
    assert np.isfinite(loss.item()) and torch.isfinite(parameters_NP.grad).all()


def test_no_component_shrinks_onto_a_value_that_repeats() -> None:
    shape = MixtureShape(1, 1, False, 0.1)
    parameters_NP = torch.tensor([[0.0, 0.0, -50.0]], dtype=torch.float64)
    assert_close(mixture_of(parameters_NP, shape).log_deviations_NKD.exp().item(), 0.1)


@pytest.mark.parametrize("shape", SHAPES[:2], ids=["correlated", "diagonal"])
def test_draws_have_the_mean_and_the_covariance_of_the_density(shape: MixtureShape) -> None:
    count = 200_000
    mixture = Mixture.of(doubles(1, shape.width, seed=4).numpy(), shape)
    rows = Mixture(*(None if block is None else block.repeat(count, 0) for block in mixture))
    source = np.random.default_rng(3)
    x_ND = rows.draw(source.random(count), source.standard_normal((count, shape.size)))
    w_K, mu_KD, sigma_KD = (
        np.exp(mixture.log_weights_NK[0]),
        mixture.means_NKD[0],
        np.exp(mixture.log_deviations_NKD[0]),
    )
    second_KDD = mu_KD[:, :, None] * mu_KD[:, None] + np.eye(shape.size) * (sigma_KD**2)[:, None]
    if mixture.r_NK is not None:
        product_K = np.tanh(mixture.r_NK[0]) * sigma_KD.prod(1)
        second_KDD[:, 0, 1] += product_K
        second_KDD[:, 1, 0] += product_K
    mean_D = mixture.mean_ND[0]
    np.testing.assert_allclose(x_ND.mean(0), mean_D, atol=0.05, rtol=0)
    covariance_DD = (w_K[:, None, None] * second_KDD).sum(0) - np.outer(mean_D, mean_D)
    np.testing.assert_allclose(np.cov(x_ND.T), covariance_DD, atol=0.1, rtol=0.05)


def test_a_bias_makes_draws_less_spread_and_keeps_probabilities() -> None:
    mixture = Mixture.of(doubles(3, SHAPES[0].width).numpy(), SHAPES[0])
    narrow = mixture.biased(2.0)
    np.testing.assert_allclose(np.exp(narrow.log_weights_NK).sum(1), 1)
    assert (narrow.log_weights_NK.max(1) > mixture.log_weights_NK.max(1)).all()
    np.testing.assert_allclose(narrow.log_deviations_NKD, mixture.log_deviations_NKD - 2)
