"""The losses of real vectors: what they are, and their gradients."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from anaphora.kernels.mixture import MixtureShape, bias_mixture, draw, mean, mixture_log_probs, mixture_loss, mixture_of

from .exactness import doubles

SHAPES = [MixtureShape(3, 2, True, 0.05), MixtureShape(3, 3, False, 0.05), MixtureShape(1, 1, False, 1e-3)]


@given(st.integers(0, 1000), st.floats(0.3, 2), st.floats(-3, 3))
@settings(max_examples=10, deadline=None)
def test_a_density_integrates_to_1(seed: int, spread: float, r_hat: float) -> None:
    shape = MixtureShape(3, 2, True, 0.3)
    parameters_1P = spread * doubles(1, shape.width, seed=seed)
    parameters_1P[:, 3:9].clamp_(-2, 2)
    parameters_1P[:, 9:15].clamp_(-0.5, 0.7)
    parameters_1P[:, 15:] = r_hat / 3
    axis = torch.linspace(-18, 18, 241, dtype=torch.float64)
    grid_ND = torch.cartesian_prod(axis, axis)
    mixture = mixture_of(parameters_1P, shape)
    density_N = mixture_log_probs(mixture, grid_ND).exp()
    assert_close(density_N.sum() * (axis[1] - axis[0]) ** 2, torch.ones((), dtype=torch.float64), atol=1e-3, rtol=0)


def test_a_density_of_one_dimension_integrates_to_1() -> None:
    shape = MixtureShape(4, 1, False, 0.05)
    axis = torch.linspace(-40, 40, 80_001, dtype=torch.float64)
    density_N = mixture_log_probs(mixture_of(doubles(1, shape.width), shape), axis.unsqueeze(1)).exp()
    assert_close(density_N.sum() * (axis[1] - axis[0]), torch.ones((), dtype=torch.float64), atol=1e-6, rtol=0)


@given(st.integers(0, 1000), st.sampled_from([1.0, 30.0, 1e4, 1e8]))
@settings(max_examples=40, deadline=None)
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
    mixture = mixture_of(doubles(1, shape.width, seed=4), shape)
    rows = type(mixture)(*(None if block is None else block.expand(count, *block.shape[1:]) for block in mixture))
    source = torch.Generator().manual_seed(3)
    uniform_N = torch.rand(count, generator=source, dtype=torch.float64)
    normal_ND = torch.randn(count, shape.size, generator=source, dtype=torch.float64)
    x_ND = draw(rows, uniform_N, normal_ND)
    w_K, mu_KD, sigma_KD = mixture.log_weights_NK[0].exp(), mixture.means_NKD[0], mixture.log_deviations_NKD[0].exp()
    second_KDD = mu_KD.unsqueeze(2) * mu_KD.unsqueeze(1) + torch.diag_embed(sigma_KD**2)
    if mixture.r_NK is not None:
        product_K = torch.tanh(mixture.r_NK[0]) * sigma_KD.prod(1)
        second_KDD[:, 0, 1] += product_K
        second_KDD[:, 1, 0] += product_K
    mean_D = mean(mixture)[0]
    assert_close(x_ND.mean(0), mean_D, atol=0.05, rtol=0)
    covariance_DD = (w_K[:, None, None] * second_KDD).sum(0) - torch.outer(mean_D, mean_D)
    assert_close(torch.cov(x_ND.T), covariance_DD, atol=0.1, rtol=0.05)


def test_a_bias_makes_draws_less_spread_and_keeps_probabilities() -> None:
    mixture = mixture_of(doubles(3, SHAPES[0].width), SHAPES[0])
    narrow = bias_mixture(mixture, 2.0)
    assert_close(narrow.log_weights_NK.exp().sum(1), torch.ones(3, dtype=torch.float64))
    assert (narrow.log_weights_NK.amax(1) > mixture.log_weights_NK.amax(1)).all()
    assert_close(narrow.log_deviations_NKD, mixture.log_deviations_NKD - 2)
