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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import Part, previous

LARGEST = 30.0
"""The largest exponent: e to it, a thousand times over and squared, is still a number in single precision."""


@dataclass(frozen=True)
class Move(Part):
    """Step 1: where the Gaussians stand."""

    source: str

    writes: ClassVar[tuple[str, ...]] = ("kappa",)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, previous("kappa"))

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], V]:
        """Step 1."""
        size = ops.width(inputs[1])
        kappa, derivative = ops.fuse("window_move", self._step, (*inputs, ops.number(LARGEST)), (size, size))
        return [kappa], derivative

    def _step(self, ops: Ops[V], hat: V, before: V, largest: V) -> Sequence[V]:
        step, derivative = ops.capped_exp(ops.split(hat, 2, 1)[1], LARGEST)
        return ops.add(before, step), derivative

    def backward(self, ops: Ops[V], saved: V, doutputs: Sequence[V]) -> Sequence[V]:
        """Step 1 undone; the first two blocks have no part in it."""
        (dkappa,) = doutputs
        (dhat,) = ops.fuse("window_move_back", self._step_back, (dkappa, saved), (3 * ops.width(dkappa),))
        return dhat, dkappa

    def _step_back(self, ops: Ops[V], dkappa: V, derivative: V) -> Sequence[V]:
        none = ops.sub(dkappa, dkappa)
        return [ops.join(none, none, ops.mul(dkappa, derivative))]


@dataclass(frozen=True)
class GaussianWindow(Part):
    """Steps 2 to 5; writes context and weights.

    Memory tensors: ``<name>.values`` (B x S x M), ``<name>.closed`` (B x S, true past the end) and ``<name>.length``
    (B x 1, the open positions).
    """

    source: str

    by_sentence: ClassVar[bool] = True
    writes: ClassVar[tuple[str, ...]] = ("context", "weights")

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, "kappa")

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Sequence[V]]:
        """Steps 2 to 5."""
        open_ = ops.whole()
        read = *inputs, open_, ops.number(LARGEST)
        (phi,) = ops.fused_over_memory("gaussian_window", self._weights, read, (ops.positions,))  # 2 to 4
        return (ops.mix("values", phi, open_), phi), inputs  # 5

    def _weights(self, ops: Ops[V], hat: V, kappa: V, open_: V, largest: V) -> Sequence[V]:
        alpha, _, _, E = self._gaussians(ops, hat, kappa)
        return [ops.only_open(ops.sum_positions(ops.mul(alpha, E)), open_)]  # 4

    def _gaussians(self, ops: Ops[V], hat: V, kappa: V) -> Sequence[V]:
        """Steps 2 and 3."""
        of_alpha, of_beta, _ = ops.split(hat, 1, 1, 1)
        alpha, beta = (ops.at_positions(ops.capped_exp(block, LARGEST)[0]) for block in (of_alpha, of_beta))  # 2
        d = ops.sub(ops.at_positions(kappa), ops.places())  # 3
        return alpha, beta, d, ops.exp(ops.scale(ops.mul(beta, ops.mul(d, d)), -1))

    def backward(self, ops: Ops[V], saved: Sequence[V], doutputs: Sequence[V | None]) -> Sequence[V]:
        """Steps 5 to 2 undone; the weights may have a gradient of their own."""
        open_, (hat, kappa) = ops.whole(), saved
        dcontext, dweights = doutputs
        through_context = None if dcontext is None else ops.mix_back("values", dcontext, open_)  # 5
        dphi = ops.sum([d for d in (through_context, dweights) if d is not None])
        read, writes = (dphi, hat, kappa, open_, ops.number(LARGEST)), (ops.width(hat), ops.width(kappa))
        return ops.fused_over_memory("gaussian_window_back", self._weights_back, read, writes)  # 4 to 2

    def _weights_back(self, ops: Ops[V], dphi: V, hat: V, kappa: V, open_: V, largest: V) -> Sequence[V]:
        alpha, beta, d, E = self._gaussians(ops, hat, kappa)
        of_alpha, of_beta = (ops.capped_exp(block, LARGEST)[1] for block in ops.split(hat, 1, 1, 1)[:2])
        dE = ops.mul(ops.over_positions(ops.only_open(dphi, open_)), E)  # 4
        dm = ops.mul(dE, alpha)  # 3, of m = -beta d^2
        dbeta = ops.scale(ops.squeeze(ops.row_sum(ops.mul(ops.mul(dm, d), d))), -1)
        dkappa = ops.scale(ops.mul(ops.squeeze(ops.row_sum(ops.mul(dm, d))), ops.squeeze(beta)), -2)
        dalpha = ops.squeeze(ops.row_sum(dE))
        none = ops.sub(dkappa, dkappa)
        return ops.join(ops.mul(dalpha, of_alpha), ops.mul(dbeta, of_beta), none), dkappa  # 2
