"""The second reading of losses of real vectors, term by term as the papers write them."""

from math import log, pi

import torch
from torch import Tensor

from anaphora.kernels.densities import LARGEST, MixtureShape


def mixture_loss(parameters_NP: Tensor, targets_ND: Tensor, shape: MixtureShape, weights_N: Tensor) -> Tensor:
    """-sum_n weight_n ln sum_k w_k N(x_n; mu_k, sigma_k, rho_k) (Graves 2013, equations 18 to 25)."""
    total = parameters_NP.new_zeros(())
    K, D = shape.components, shape.size
    for row_P, x_D, weight in zip(parameters_NP, targets_ND, weights_N, strict=True):
        w_K = torch.exp(row_P[:K]) / torch.exp(row_P[:K]).sum()
        mu_KD, hat_KD = row_P[K : K + K * D].view(K, D), row_P[K + K * D : K + 2 * K * D].view(K, D)
        sigma_KD = shape.min_deviation * (1 + torch.exp(hat_KD - log(shape.min_deviation)))
        z_KD = (x_D - mu_KD) / sigma_KD
        if shape.correlated:
            rho_K = torch.tanh(LARGEST * torch.tanh(row_P[K + 2 * K * D :] / LARGEST))
            Z_K = z_KD[:, 0] ** 2 + z_KD[:, 1] ** 2 - 2 * rho_K * z_KD[:, 0] * z_KD[:, 1]
            scale_K = 2 * pi * sigma_KD[:, 0] * sigma_KD[:, 1] * torch.sqrt(1 - rho_K**2)
            N_K = torch.exp(-Z_K / (2 * (1 - rho_K**2))) / scale_K
        else:
            N_K = torch.exp(-(z_KD**2).sum(1) / 2) / ((2 * pi) ** (D / 2) * sigma_KD.prod(1))
        total = total - weight * torch.log((w_K * N_K).sum())
    return total


def squared_error(outputs_ND: Tensor, targets_ND: Tensor, weights_N: Tensor) -> Tensor:
    """sum_n weight_n |y_n - x_n|^2 / 2."""
    return (weights_N * ((outputs_ND - targets_ND) ** 2).sum(1)).sum() / 2
