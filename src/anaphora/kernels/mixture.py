"""Mixtures of Gaussians over real vectors (Bishop 1994; Graves 2013, equations 18 to 25), with their derived gradient.

A row of parameters holds, in this order, K weights, K x D means, K x D deviations and, for two correlated dimensions,
K correlations; a hat is what the network puts out. For each row n and component k:

    1  ln w  = log_softmax(w_hat)
    2  s     = f + softplus(s_hat - f),  f = ln(least deviation)      the deviation is exp(s); nearly s_hat above f
    3  r     = R tanh(r_hat / R)                                      the correlation is tanh(r), never near 1 in size
    4  u     = (x - mu) exp(-s)
    5  v     = u_2 cosh r - u_1 sinh r                               without correlation v = u_2
    6  ln N  = -D/2 ln(2 pi) - sum_d s_d + ln cosh r - (sum_{d != 2} u_d^2 + v^2) / 2
    7  L     = -ln sum_k exp(ln w_k + ln N_k)

5 and 6 are equations 24 and 25 of Graves: Z / (1 - rho^2) = u_1^2 + v^2, a sum of squares that no rounding makes
negative. Backward, with g_k = w_k N_k / sum_j w_j N_j, the probability that component k made the row:

    7' dw_hat = w - g
    5' du_1  = g (u_1 - v sinh r),   du_2 = g v cosh r,   dr = g (v (u_2 sinh r - u_1 cosh r) - tanh r)
       without correlation  du = g u
    4' dmu   = -du exp(-s),   ds = g - du u
    3' dr_hat = dr (1 - (r / R)^2)
    2' ds_hat = ds sigm(s_hat - f)

The deviation is bounded below since the likelihood has no bound without it: a component that shrinks onto a value which
the data repeats (pens report whole numbers) would win every batch.
"""

from math import log

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.errors import ShapeError
from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.densities import LARGEST, Mixture, MixtureShape
from anaphora.shapes import check_shapes


def mixture_of(parameters_NP: Tensor, shape: MixtureShape) -> Mixture:
    """Equations 1 to 3, in tensors; ShapeError where the parameters are not those of ``shape``."""
    if parameters_NP.shape[-1] != shape.width or (shape.correlated and shape.size != 2):
        raise ShapeError(
            f"{shape} should have {shape.width} parameters and 2 dimensions if correlated, but there are "
            f"{parameters_NP.shape[-1]} parameters."
        )
    w_hat_NK, means, deviations, r_hat_NK = torch.split(parameters_NP, shape.blocks, -1)
    f = log(shape.min_deviation)
    return Mixture(
        torch.log_softmax(w_hat_NK, 1),
        _by_component(means, shape),
        f + functional.softplus(_by_component(deviations, shape) - f),
        LARGEST * torch.tanh(r_hat_NK / LARGEST) if shape.correlated else None,
    )


def mixture_loss(
    parameters_NP: Tensor, targets_ND: Tensor, shape: MixtureShape, weights_N: Tensor | None = None
) -> Tensor:
    """The summed -ln p of all rows, a scalar in nats; ``weights_N`` are factors of the rows, 1 where there are none.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(parameters_NP=parameters_NP, targets_ND=targets_ND)

    def derive(recording: bool, parameters_NP: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        mixture = mixture_of(parameters_NP, shape)
        joint_NK, u_NKD, v_NK = mixture.joint(targets_ND, torch)
        log_probs_N = torch.logsumexp(joint_NK, 1)
        weight_N = torch.ones_like(log_probs_N) if weights_N is None else weights_N.to(log_probs_N.dtype)
        loss = -(weight_N * log_probs_N).sum(dtype=torch.float64)  # 7
        if not recording:
            return loss, ()
        g_NK = torch.exp(joint_NK - log_probs_N.unsqueeze(1))
        log_weights_NK, _, s_NKD, r_NK = mixture
        blocks = [log_weights_NK.exp() - g_NK]  # 7'
        of_correlation: list[Tensor] = []
        if r_NK is None or v_NK is None:
            du_NKD = g_NK.unsqueeze(2) * u_NKD
        else:
            u1_NK, u2_NK = u_NKD.unbind(2)
            sinh_NK, cosh_NK = torch.sinh(r_NK), torch.cosh(r_NK)
            du_NKD = torch.stack([g_NK * (u1_NK - v_NK * sinh_NK), g_NK * v_NK * cosh_NK], 2)  # 5'
            dr_NK = g_NK * (v_NK * (u2_NK * sinh_NK - u1_NK * cosh_NK) - torch.tanh(r_NK))
            of_correlation = [dr_NK * (1 - (r_NK / LARGEST) ** 2)]  # 3'
        hats_NKD = _by_component(torch.split(parameters_NP, shape.blocks, -1)[2], shape)
        blocks.append((-du_NKD * torch.exp(-s_NKD)).flatten(1))  # 4'
        ds_NKD = g_NK.unsqueeze(2) - du_NKD * u_NKD
        blocks.append((ds_NKD * torch.sigmoid(hats_NKD - log(shape.min_deviation))).flatten(1))  # 2'
        return loss, (torch.cat([*blocks, *of_correlation], 1) * weight_N.unsqueeze(1),)

    return derived_loss(derive, parameters_NP)


def _by_component(block: Tensor, shape: MixtureShape) -> Tensor:
    return block.reshape(-1, shape.components, shape.size)
