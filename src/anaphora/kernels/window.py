"""The soft window that moves forward over a sentence (Graves 2013, section 5.1), as parts of a step.

K Gaussians stand at kappa, which only ever grows; there is no score, and the weights need not sum to 1. A projection of
the query, in the blocks alpha, beta, kappa, comes before the two parts.

    1  kappa_t = kappa_{t-1} + exp(khat)                     Move; kappa_0 = 0
    2  alpha, beta = exp(ahat), exp(bhat)                    GaussianWindow
    3  d_ks  = kappa_k - s                                   positions count from 1
       E_ks  = exp(-beta_k d_ks^2)
    4  phi_s = sum_k alpha_k E_ks                            0 past the end of the sentence
    5  c     = sum_s phi_s value_s

An exponent above ``LARGEST`` counts as that, and learns nothing: its window is further off than any sentence is long,
and what is infinite would make a gradient of 0 times infinity.

What the two parts share is read as one signal, so a decoder without feeding finds all its windows at once: only Move
has to wait for the step before.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.lowering import Lowering, Value, Values
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.parts import previous

LARGEST = 30.0
"""The largest exponent: e to it, a thousand times over and squared, is still a number in single precision."""


def _exp(hat_XBN: Tensor) -> tuple[Tensor, Tensor]:
    """Return the exponential of a block of the projection, and its derivative."""
    value_XBN = torch.exp(hat_XBN.clamp(max=LARGEST))
    return value_XBN, value_XBN.masked_fill(hat_XBN > LARGEST, 0)


@dataclass(frozen=True)
class Move:
    """Step 1: where the Gaussians stand."""

    name: str
    source: str

    by_sentence: ClassVar[bool] = False
    writes: ClassVar[tuple[str, ...]] = ("kappa",)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, previous("kappa"))

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Step 1."""
        hat_XBP, before_XBK = inputs
        step_XBK, derivative_XBK = _exp(hat_XBP.chunk(3, -1)[2])
        return (before_XBK + step_XBK,), derivative_XBK

    def backward(self, matmuls: Matmuls, saved: Tensor, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Step 1 undone; the first two blocks have no part in it."""
        (dkappa_XBK,) = doutputs
        none_XBK = torch.zeros_like(dkappa_XBK)
        return torch.cat([none_XBK, none_XBK, dkappa_XBK * saved], -1), dkappa_XBK

    def obstacle(self) -> str:
        """None."""
        return ""

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Value]:
        """Step 1."""
        hat, before = inputs
        kappa, derivative = ops.value(before.width), ops.value(before.width)
        ops.run("window_move", (kappa, derivative), (hat, before, ops.number(LARGEST)))
        return (kappa,), derivative

    def lower_back(self, ops: Lowering, saved: Value, doutputs: tuple[Value, ...]) -> Values:
        """Step 1 undone; the first two blocks have no part in it."""
        (dkappa,) = doutputs
        dhat = ops.value(3 * dkappa.width)
        ops.run("window_move_back", (dhat,), (dkappa, saved))
        return dhat, dkappa


class Saved(NamedTuple):
    """Values saved for the backward pass."""

    alpha_XBK1: Tensor
    beta_XBK1: Tensor
    derivatives_XBL: Tensor
    """Of alpha and beta, in their exponents."""
    d_XBKS: Tensor
    E_XBKS: Tensor


@dataclass(frozen=True)
class GaussianWindow:
    """Steps 2 to 5; writes context and weights.

    Memory tensors: ``<name>.values`` (B x S x M), ``<name>.closed`` (B x S, true past the end) and ``<name>.length``
    (B x 1, the open positions).
    """

    name: str
    source: str

    by_sentence: ClassVar[bool] = True
    writes: ClassVar[tuple[str, ...]] = ("context", "weights")

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, "kappa")

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Saved]:
        """Steps 2 to 5."""
        matmul = matmuls.of(self.name)
        hat_XBP, kappa_XBK = inputs
        closed_BS = matmul.sentences("closed", hat_XBP.shape[1])
        s_S = torch.arange(1, closed_BS.shape[1] + 1, device=closed_BS.device)
        both_XBL, derivatives_XBL = _exp(hat_XBP[..., : 2 * kappa_XBK.shape[-1]])  # 2
        alpha_XBK1, beta_XBK1 = both_XBL.unsqueeze(-1).chunk(2, -2)
        d_XBKS = kappa_XBK.unsqueeze(-1) - s_S  # 3
        E_XBKS = torch.exp(-beta_XBK1 * (d_XBKS * d_XBKS))
        phi_XBS = (alpha_XBK1 * E_XBKS).sum(-2).masked_fill(closed_BS, 0)  # 4
        saved = Saved(alpha_XBK1, beta_XBK1, derivatives_XBL, d_XBKS, E_XBKS)
        return (matmul.attend("values", phi_XBS), phi_XBS), saved  # 5

    def backward(self, matmuls: Matmuls, saved: Saved, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Steps 5 to 2 undone; the weights may have a gradient of their own."""
        matmul = matmuls.of(self.name)
        alpha_XBK1, beta_XBK1, derivatives_XBL, d_XBKS, E_XBKS = saved
        closed_BS = matmul.sentences("closed", d_XBKS.shape[1])
        dphi_XBS = (matmul.attend_back("values", doutputs[0]) + doutputs[1]).masked_fill(closed_BS, 0)  # 5
        dfirst_XBKS = dphi_XBS.unsqueeze(-2) * E_XBKS  # 4
        dalpha_XBK = dfirst_XBKS.sum(-1)
        dm_XBKS = dfirst_XBKS * alpha_XBK1  # 3, of m = -beta d^2
        dbeta_XBK = -(dm_XBKS * d_XBKS * d_XBKS).sum(-1)
        dkappa_XBK = (dm_XBKS * d_XBKS).sum(-1) * (-2 * beta_XBK1.squeeze(-1))
        dboth_XBL = torch.cat([dalpha_XBK, dbeta_XBK], -1) * derivatives_XBL  # 2
        return torch.cat([dboth_XBL, torch.zeros_like(dkappa_XBK)], -1), dkappa_XBK

    def obstacle(self) -> str:
        """None."""
        return ""

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Values]:
        """Steps 2 to 5."""
        part = ops.of(self.name)
        window, phi = part.whole("length"), ops.value(part.memory_width("closed"))
        ops.run("gaussian_window", (phi,), (*inputs, window, ops.number(LARGEST)))  # 2 to 4
        return (part.mix("values", phi, window), phi), inputs  # 5

    def lower_back(self, ops: Lowering, saved: Values, doutputs: tuple[Value | None, ...]) -> Values:
        """Steps 5 to 2 undone."""
        part = ops.of(self.name)
        window, (hat, kappa) = part.whole("length"), saved
        through_context = part.mix_back("values", doutputs[0], window) if doutputs[0] else None  # 5
        dphi = ops.sum([d for d in (through_context, doutputs[1]) if d])
        dhat, dkappa = ops.value(hat.width), ops.value(kappa.width, merges=True)
        ops.run("gaussian_window_back", (dhat, dkappa), (dphi, hat, kappa, window, ops.number(LARGEST)))  # 4 to 2
        return dhat, dkappa
