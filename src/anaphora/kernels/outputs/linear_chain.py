"""A linear-chain conditional random field over the tags of a sentence (Lafferty, McCallum and Pereira 2001).

With emission scores e_t, transition scores A, scores a of the first tag and z of the last:

    1  s(y) = a[y_1] + sum_t e_t[y_t] + sum_{t>1} A[y_{t-1}, y_t] + z[y_T]
    2  alpha_1 = a + e_1,   alpha_t[j] = e_t[j] + log sum_i exp(alpha_{t-1}[i] + A[i, j])
    3  log Z = log sum_i exp(alpha_T[i] + z[i])
    4  L = log Z - s(y)
    2' beta_T = z,   beta_t[i] = log sum_j exp(A[i, j] + e_{t+1}[j] + beta_{t+1}[j])
    4' de_t[i] = p(y_t = i) - 1[y_t = i],   p(y_t = i) = exp(alpha_t[i] + beta_t[i] - log Z)
       dA[i, j] = sum_{t>1} p(y_{t-1} = i, y_t = j) - 1[y_{t-1} = i, y_t = j],
       p(y_{t-1} = i, y_t = j) = exp(alpha_{t-1}[i] + A[i, j] + e_t[j] + beta_t[j] - log Z)
       da[i] = p(y_1 = i) - 1[y_1 = i],   dz[i] = p(y_T = i) - 1[y_T = i]

A score of -inf bars what it is the score of: its probability and its gradient are 0. All sums are taken in logarithms,
in float64: alpha grows with t, and what rounds it is all that 4' has left of a small probability.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.shapes import check_shapes


class Chain(NamedTuple):
    """The scores of tags and of their neighbours."""

    transitions_CC: Tensor
    """A, from the row to the column."""
    first_C: Tensor
    """a."""
    last_C: Tensor
    """z."""

    def double(self) -> "Chain":
        return Chain(*(scores.double() for scores in self))


def linear_chain_loss(
    emissions_TBC: Tensor, chain: Chain, tags_TB: Tensor, lengths_B: Tensor, weights_B: Tensor | None = None
) -> Tensor:
    """Return the summed -ln p of the tag sequences, a scalar in nats.

    Raises ShapeError where the sizes do not agree.

    Args:
        emissions_TBC: a score for each tag of each token; padding may hold anything finite.
        chain: the other scores.
        tags_TB: int64, the right tags; padding may hold any tag.
        lengths_B: int64, at least 1.
        weights_B: factor of the loss of each sentence; 1 where there are none.
    """
    check_shapes(emissions_TBC=emissions_TBC, tags_TB=tags_TB, lengths_B=lengths_B, **chain._asdict())
    lengths_B = lengths_B.to(tags_TB.device)
    open_TB = torch.arange(len(tags_TB), device=tags_TB.device).unsqueeze(1) < lengths_B

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        emissions_TBC, chain = leaves[0].double(), Chain(*leaves[1:]).double()
        alphas, log_z_B = _forward(emissions_TBC, chain, open_TB)
        weight_B = torch.ones_like(log_z_B) if weights_B is None else weights_B.to(log_z_B)
        last_B = tags_TB.gather(0, lengths_B.unsqueeze(0) - 1).squeeze(0)
        emitted_TB = emissions_TBC.gather(2, tags_TB.unsqueeze(2)).squeeze(2)
        moved_TB = chain.transitions_CC[tags_TB[:-1], tags_TB[1:]]
        scores_B = chain.first_C[tags_TB[0]] + emitted_TB.where(open_TB, 0).sum(0)
        scores_B = scores_B + moved_TB.where(open_TB[1:], 0).sum(0) + chain.last_C[last_B]  # 1
        loss = ((log_z_B - scores_B) * weight_B).sum(dtype=torch.float64)  # 4
        if not recording:
            return loss, ()

        demissions_TBC = torch.empty_like(emissions_TBC)
        dtransitions_CC = torch.zeros_like(chain.transitions_CC)
        shift_B1, weight_B1 = log_z_B.unsqueeze(1), weight_B.unsqueeze(1)
        beta_BC = chain.last_C.expand_as(alphas[0])
        dlast_C = _probability(alphas[-1] + beta_BC - shift_B1, weight_B1).sum(0)
        for t in range(len(alphas) - 1, -1, -1):
            inside_B1 = open_TB[t].unsqueeze(1)
            demissions_TBC[t] = _probability(alphas[t] + beta_BC - shift_B1, weight_B1).where(inside_B1, 0)  # 4'
            if t:
                ahead_BC = emissions_TBC[t] + beta_BC
                paths_BCC = chain.transitions_CC + ahead_BC.unsqueeze(1)
                top_BC = paths_BCC.amax(2).clamp_min_(torch.finfo(paths_BCC.dtype).min)  # all of them may be barred
                q_BCC = paths_BCC.sub_(top_BC.unsqueeze(2)).exp_()  # for 2' and 4'
                beta_BC = torch.where(inside_B1, top_BC + q_BCC.sum(2).log(), beta_BC)  # 2'
                joint_BC = _probability(alphas[t - 1] + top_BC - shift_B1, weight_B1).where(inside_B1, 0)
                dtransitions_CC += q_BCC.mul_(joint_BC.unsqueeze(2)).sum(0)  # 4'
        dfirst_C = demissions_TBC[0].sum(0)

        weight_TB = weight_B.expand(tags_TB.shape) * open_TB
        demissions_TBC.scatter_add_(2, tags_TB.unsqueeze(2), -weight_TB.unsqueeze(2))
        dtransitions_CC.index_put_((tags_TB[:-1], tags_TB[1:]), -weight_TB[1:], accumulate=True)
        dfirst_C = dfirst_C.index_add(0, tags_TB[0], -weight_B)
        gradients = (demissions_TBC, dtransitions_CC, dfirst_C, dlast_C.index_add(0, last_B, -weight_B))
        return loss, tuple(gradient.to(leaf) for gradient, leaf in zip(gradients, leaves, strict=True))

    return derived_loss(derive, emissions_TBC, *chain)


def _forward(emissions_TBC: Tensor, chain: Chain, open_TB: Tensor) -> tuple[list[Tensor], Tensor]:
    """alpha of each step, which stays as it is in the padding, and log Z."""
    alphas = [chain.first_C + emissions_TBC[0]]
    for t in range(1, len(emissions_TBC)):
        sums_BC = torch.logsumexp(alphas[-1].unsqueeze(2) + chain.transitions_CC, 1)  # 2
        alphas.append(torch.where(open_TB[t].unsqueeze(1), emissions_TBC[t] + sums_BC, alphas[-1]))
    return alphas, torch.logsumexp(alphas[-1] + chain.last_C, 1)  # 3


def _probability(log_probs: Tensor, weight: Tensor) -> Tensor:
    return log_probs.exp() * weight
