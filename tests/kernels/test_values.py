"""The losses of real vectors: what they are, and their gradients."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from anaphora.kernels.densities import Mixture, MixtureShape
from anaphora.kernels.mixture import mixture_loss, mixture_of

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
    axis = np.linspace(-18, 18, 241)
    grid_ND = np.stack(np.meshgrid(axis, axis), 2).reshape(-1, 2)
    density_N = np.exp(Mixture.of(parameters_1P.numpy(), shape).log_probs(grid_ND))
    assert density_N.sum() * (axis[1] - axis[0]) ** 2 == pytest.approx(1, abs=1e-3)


def test_a_density_of_one_dimension_integrates_to_1() -> None:
    shape = MixtureShape(4, 1, False, 0.05)
    axis = np.linspace(-40, 40, 80_001)
    density_N = np.exp(Mixture.of(doubles(1, shape.width).numpy(), shape).log_probs(axis[:, None]))
    assert density_N.sum() * (axis[1] - axis[0]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES, ids=["correlated", "diagonal", "one"])
def test_the_loss_is_that_of_the_density(shape: MixtureShape) -> None:
    parameters_NP, targets_ND = doubles(7, shape.width), doubles(7, shape.size, seed=2)
    log_probs_N = Mixture.of(parameters_NP.numpy(), shape).log_probs(targets_ND.numpy())
    assert mixture_loss(parameters_NP, targets_ND, shape).item() == pytest.approx(-log_probs_N.sum(), rel=1e-12)


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
