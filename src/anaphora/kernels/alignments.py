"""Hard attention: one position a step as a latent variable, and the sum over all alignments (Wu and Cotterell 2019).

With scores e of positions and d of distances, and o_t(j) = ln p(y_t | a_t = j) of each position:

    1  z_t(k, j) = b e_t(j) + d_t(j - k)           -inf past the end and, if alignments never go back, for j < k
    2  q_t(k, j) = z_t(k, j) - log sum_i exp z_t(k, i)              ln p(a_t = j | a_{t-1} = k)
    3  alpha_t(j) = o_t(j) + log sum_k exp(alpha_{t-1}(k) + q_t(k, j))      alpha_0: 0 at the first position, else -inf
    4  L = -log sum_j exp alpha_T(j)

    4' beta_T = 0,   beta_{t-1}(k) = log sum_j exp(q_t(k, j) + o_t(j) + beta_t(j))
    3' gamma_t(j) = exp(alpha_t(j) + beta_t(j) + L),   do_t(j) = -gamma_t(j)
       xi_t(k, j) = exp(alpha_{t-1}(k) + q_t(k, j) + o_t(j) + beta_t(j) + L)
    2' dz_t(k, j) = exp(q_t(k, j)) sum_i xi_t(k, i) - xi_t(k, j)
    1' de_t(j) = b sum_k dz_t(k, j),   dd_t(n) = sum of dz_t(k, j) over j - k = n

gamma and xi are the probabilities of positions and of pairs of them, given the whole output. From left to right,
alpha less the logarithm of its sum is the distribution of the position given what was written so far, and so

    5  p(y_t | y_1 .. y_{t-1}) = sum_j exp(o_t(j)) sum_k p(a_{t-1} = k | y_1 .. y_{t-1}) exp(q_t(k, j))

is exact. All is in float64, and sums are in the order of positions, so that padding changes no bits.
"""

from typing import NamedTuple

import numpy as np

from anaphora.kernels.compiled.library import Array

POSITIONS = "combine_context.positions"
"""Name of the memory of a readout of each position."""


class Alignments(NamedTuple):
    """The transitions of alignments."""

    scale: float
    """b."""
    jumps: int
    """The longest distance with its own score; 0 where distances have none."""
    monotonic: bool
    """True if alignments never go back."""

    def _distances(self, positions: int) -> Array:
        """S x S: the number of the distance from k to j among the scores of distances."""
        places = np.arange(positions)
        found: Array = np.clip(places - places[:, None], -self.jumps, self.jumps)
        return np.maximum(found, 0) if self.monotonic else found + self.jumps

    def transitions(self, scores_XS: Array, jumps_XJ: Array | None, closed_XS: Array) -> Array:
        """Return q, X x S x S from k to j; X are any dimensions. A step from past the end leads nowhere."""
        positions = scores_XS.shape[-1]
        z_XS = np.where(closed_XS, -np.inf, self.scale * scores_XS.astype(np.float64))
        z_XSS = np.repeat(z_XS[..., None, :], positions, -2)
        if jumps_XJ is not None:
            z_XSS += jumps_XJ[..., self._distances(positions)]
        if self.monotonic:
            z_XSS[..., np.tri(positions, k=-1, dtype=bool)] = -np.inf  # 1
        found: Array = z_XSS - np.nan_to_num(log_sum(z_XSS, -1), neginf=0)[..., None]  # 2
        return found

    def scores_back(self, q_XSS: Array, xi_XSS: Array, jumps: int) -> tuple[Array, Array]:
        """Return the gradients of the scores of positions and of as many distances: 2' and 1'."""
        dz_XSS = np.exp(q_XSS) * xi_XSS.sum(-1, keepdims=True) - xi_XSS  # 2'
        distances_SS = self._distances(q_XSS.shape[-1])
        of_jumps = [dz_XSS[..., distances_SS == number].sum(-1) for number in range(jumps)]
        return self.scale * dz_XSS.sum(-2), np.stack(of_jumps, -1) if of_jumps else dz_XSS[..., :0, 0]  # 1'


def log_sum(x: Array, axis: int) -> Array:
    """Return ln of the sum of exp(x), one after the other; minus infinity for nothing."""
    top = np.nan_to_num(x.max(axis, keepdims=True), neginf=0)
    with np.errstate(divide="ignore"):
        found: Array = np.log(np.exp(x - top).cumsum(axis).take(-1, axis)) + top.squeeze(axis)
    return found


def forward_backward(o_TBS: Array, q_TBSS: Array, lengths_B: Array) -> tuple[Array, Array, Array]:
    """Return L of each row, gamma (T x B x S) and xi (T x B x S x S); both are 0 in the padding."""
    steps, rows, positions = o_TBS.shape
    open_TB = np.arange(steps)[:, None] < lengths_B
    o_TBS = np.where(open_TB[..., None], o_TBS, -np.inf)
    alphas = [np.tile(np.where(np.arange(positions) == 0, 0.0, -np.inf), (rows, 1))]
    for t in range(steps):
        after_BS = o_TBS[t] + log_sum(alphas[-1][:, :, None] + q_TBSS[t], 1)  # 3
        alphas.append(np.where(open_TB[t][:, None], after_BS, alphas[-1]))
    loss_B = -log_sum(alphas[-1], 1)  # 4
    gamma_TBS, xi_TBSS, beta_BS = np.zeros_like(o_TBS), np.zeros_like(q_TBSS), np.zeros_like(alphas[0])
    for t in reversed(range(steps)):
        inside_B1 = open_TB[t][:, None]
        ahead_BSS = q_TBSS[t] + (o_TBS[t] + beta_BS)[:, None]
        gamma_TBS[t] = np.where(inside_B1, np.exp(alphas[t + 1] + beta_BS + loss_B[:, None]), 0)  # 3'
        paths_BSS = np.exp(alphas[t][:, :, None] + ahead_BSS + loss_B[:, None, None])
        xi_TBSS[t] = np.where(inside_B1[:, None], paths_BSS, 0)
        beta_BS = np.where(inside_B1, log_sum(ahead_BSS, 2), beta_BS)  # 4'
    return loss_B, gamma_TBS, xi_TBSS


def first_joint(positions: int, words: int, rows: int) -> Array:
    """Return what ``filter_step`` starts from, N x S x V: the first position, whatever is read."""
    first_S1 = np.where(np.arange(positions) == 0, np.float32(0), np.float32(-np.inf))[:, None]
    return np.tile(first_S1, (rows, 1, words))


def filter_step(joint_NSV: Array, ids_N: Array, q_NSS: Array, o_NSV: Array) -> tuple[Array, Array, Array]:
    """Read a word a row and predict the next: ln p (N x V), p of the positions (N x S), and both together.

    ``joint_NSV`` is what the step before returned last, ``o_NSV`` ln p of each word at each position.
    """
    alpha_NS = np.take_along_axis(joint_NSV, ids_N[:, None, None], 2)[..., 0].astype(np.float64)
    alpha_NS -= log_sum(alpha_NS, 1)[:, None]
    prior_NS = log_sum(alpha_NS[:, :, None] + q_NSS, 1)
    joint_NSV = prior_NS[:, :, None] + o_NSV
    log_probs_NV, weights_NS = log_sum(joint_NSV, 1), np.exp(prior_NS)  # 5
    return log_probs_NV.astype(np.float32), weights_NS.astype(np.float32), joint_NSV.astype(np.float32)
