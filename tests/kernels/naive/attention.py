"""The second reading of attention: the equations of each paper for one step, differentiated by autograd.

``unroll.py`` takes these steps over time, with what is carried from one to the next among its state.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.naive.units import sigmoid
from anaphora.kernels.normalizers import Normalizer, Softmax
from anaphora.kernels.scores import Concat, Dot, General, Hybrid, Location, Score
from anaphora.kernels.spans import Global, LocalMonotonic, LocalPredictive, Median, Span
from anaphora.kernels.window import LARGEST
from tests.kernels.naive.losses import softmax

Tensors = Mapping[str, Tensor]
Looked = tuple[list[int], Any]

CARRIED = ("weights", "coverage", "clock", "kappa")
"""Signals that attention may carry from step to step."""


class AttentionOptions(NamedTuple):
    """The options of attention by a score; without any, attention is the window of Graves."""

    score: Score
    span: Span = Global()
    normalizer: Normalizer = Softmax()


class AttentionOutput(NamedTuple):
    """Outputs of a step of attention."""

    context_BM: Tensor
    weights_BS: Tensor
    carried: dict[str, Tensor]


def attention(
    options: AttentionOptions | None,
    query_BQ: Tensor,
    memory_BSM: Tensor,
    positions_B: Tensor,
    weights: Tensors,
    carried: Tensors,
) -> AttentionOutput:
    """Context and weights over the first ``positions_B`` positions of each memory (Bahdanau et al. 2015, eq. 5, 6)."""
    carried = dict(carried)
    if "clock" in carried:
        carried["clock"] = carried["clock"] + 1
    if options is None:
        a_BS, carried["kappa"] = window(query_BQ, memory_BSM.shape[1], positions_B, weights, carried)
    else:
        a_BS = normalised_scores(options, query_BQ, memory_BSM, positions_B, weights, carried)
    if "weights" in carried:
        carried["weights"] = a_BS
    if "coverage" in carried:
        carried["coverage"] = carried["coverage"] + a_BS
    return AttentionOutput(torch.einsum("bs, bsm -> bm", a_BS, memory_BSM), a_BS, carried)


def normalised_scores(
    options: AttentionOptions,
    query_BQ: Tensor,
    memory_BSM: Tensor,
    positions_B: Tensor,
    weights: Tensors,
    carried: Tensors,
) -> Tensor:
    """Return the weights of attention by a score."""
    score, span, normalizer = options
    e_BS = SCORES[type(score)](score, query_BQ, memory_BSM, weights, carried)
    if score.scaled:
        summed_over = weights["v"].numel() if "v" in weights else query_BQ.shape[-1]
        e_BS = e_BS / summed_over**0.5
    rows = []
    for b, e_S in enumerate(e_BS):
        positions = int(positions_B[b])
        if isinstance(score, Location):
            positions = min(positions, score.max_length)
        of_sentence = {name: block[b] for name, block in carried.items()}
        open_s, g_s = SPANS[type(span)](span, query_BQ[b], positions, weights, of_sentence)
        # what stands outside is left out, not masked
        inside = e_S[torch.tensor(open_s) - 1]
        if isinstance(normalizer, Softmax):
            part = softmax(normalizer.sharpness * inside)
        else:
            part = sigmoid(inside) / sigmoid(inside).sum()
        rows.append(torch.zeros_like(e_S).index_put((torch.tensor(open_s) - 1,), part * g_s))
    return torch.stack(rows)


# Scores: a query h and the positions hs of a memory give e, one number for each position.


def dot(score: Dot, query_BQ: Tensor, memory_BSM: Tensor, weights: Tensors, carried: Tensors) -> Tensor:
    """e_s = h' hs (Luong et al. 2015, equation 8)."""
    return torch.einsum("bq, bsq -> bs", query_BQ, memory_BSM)


def general(score: General, query_BQ: Tensor, memory_BSM: Tensor, weights: Tensors, carried: Tensors) -> Tensor:
    """e_s = h' W hs (Luong et al. 2015, equation 8)."""
    return torch.einsum("bq, qm, bsm -> bs", query_BQ, weights["memory"], memory_BSM)


def concat(score: Concat, query_BQ: Tensor, memory_BSM: Tensor, weights: Tensors, carried: Tensors) -> Tensor:
    """e_s = v' tanh(W [h; hs]) (Luong et al. 2015, equation 8; Bahdanau et al. 2015, appendix A.1.2).

    With coverage, the sum of the weights so far is one more number below hs (Tu et al. 2016, section 3).
    """
    below = [query_BQ.unsqueeze(1).expand(-1, memory_BSM.shape[1], -1), memory_BSM]
    matrices = [weights["query"], weights["memory"]]
    if score.coverage:
        below.append(carried["coverage"].unsqueeze(-1))
        matrices.append(weights["coverage"].unsqueeze(-1))
    return torch.tanh(torch.cat(below, dim=-1) @ torch.cat(matrices, dim=1).T) @ weights["v"][0]


def location(score: Location, query_BQ: Tensor, memory_BSM: Tensor, weights: Tensors, carried: Tensors) -> Tensor:
    """e = W_a h, as many numbers as there are positions (Luong et al. 2015, section 3.1)."""
    e_BL = query_BQ @ weights["places"].T
    return torch.cat([e_BL, e_BL.new_zeros(len(e_BL), memory_BSM.shape[1])], dim=1)[:, : memory_BSM.shape[1]]


def hybrid(score: Hybrid, query_BQ: Tensor, memory_BSM: Tensor, weights: Tensors, carried: Tensors) -> Tensor:
    """e_s = v' tanh(W h + V hs + U f_s + b), f = F * a_{t-1} (Chorowski et al. 2015, equations 8 and 9)."""
    before_BS, columns = carried["weights"], []
    for s in range(memory_BSM.shape[1]):
        around = range(s - score.radius, s + score.radius + 1)
        seen_BR = torch.stack(
            [before_BS[:, j] if 0 <= j < before_BS.shape[1] else torch.zeros_like(before_BS[:, 0]) for j in around], 1
        )
        z_BA = query_BQ @ weights["query"].T + seen_BR @ weights["filters"].T @ weights["location"].T
        z_BA = z_BA + weights.get("bias", 0)
        if score.content:
            z_BA = z_BA + memory_BSM[:, s] @ weights["memory"].T
        columns.append(torch.tanh(z_BA) @ weights["v"][0])
    return torch.stack(columns, dim=1)


SCORES: dict[type[Score], Callable[[Any, Tensor, Tensor, Tensors, Tensors], Tensor]] = {
    Dot: dot,
    General: general,
    Concat: concat,
    Location: location,
    Hybrid: hybrid,
}
"""The function of each score."""


# Spans: the positions of one sentence that are looked at, counted from 1, and a factor for the weight of each.


def whole(span: Global, query_Q: Tensor, positions: int, weights: Tensors, carried: Tensors) -> Looked:
    """Return all of them."""
    return list(range(1, positions + 1)), 1


def monotonic(span: LocalMonotonic, query_Q: Tensor, positions: int, weights: Tensors, carried: Tensors) -> Looked:
    """Return those around p_t = t (Luong et al. 2015, section 3.2); past the end, those around the last."""
    p = min(int(carried["clock"]), positions)
    return [s for s in range(1, positions + 1) if p - span.radius <= s <= p + span.radius], 1


def predictive(span: LocalPredictive, query_Q: Tensor, positions: int, weights: Tensors, carried: Tensors) -> Looked:
    """Return those around p_t = S sigm(v_p' tanh(W_p h)), under a Gaussian (Luong et al. 2015, equations 9 and 10)."""
    p = positions * sigmoid(weights["centre_v"][0] @ torch.tanh(weights["centre"] @ query_Q))
    found = [s for s in range(1, positions + 1) if p - span.radius <= s <= p + span.radius]
    deviation = span.radius / 2
    return found, torch.stack([torch.exp(-((s - p) ** 2) / (2 * deviation**2)) for s in found])


def median(span: Median, query_Q: Tensor, positions: int, weights: Tensors, carried: Tensors) -> Looked:
    """p - w .. p + w - 1, where p is the median of the weights before (Chorowski et al. 2015, section 2.3)."""
    before_S = carried["weights"]
    p = next(s for s in range(1, positions + 1) if before_S[:s].sum() >= before_S.sum() / 2)
    return [s for s in range(1, positions + 1) if p - span.radius <= s < p + span.radius], 1


SPANS: dict[type[Span], Callable[[Any, Tensor, int, Tensors, Tensors], Looked]] = {
    Global: whole,
    LocalMonotonic: monotonic,
    LocalPredictive: predictive,
    Median: median,
}
"""The function of each span."""


def window(
    query_BQ: Tensor, width: int, positions_B: Tensor, weights: Tensors, carried: Tensors
) -> tuple[Tensor, Tensor]:
    """phi(t, u) and kappa_t (Graves 2013, equations 46 to 51)."""
    hat_B3K = query_BQ @ weights["weight"].T + weights.get("bias", 0)
    alpha_BK, beta_BK, moved_BK = (torch.exp(block.clamp(max=LARGEST)) for block in hat_B3K.chunk(3, dim=1))
    kappa_BK = carried["kappa"] + moved_BK
    columns = [
        torch.where(u <= positions_B, (alpha_BK * torch.exp(-beta_BK * (kappa_BK - u) ** 2)).sum(1), 0)
        for u in range(1, width + 1)
    ]
    return torch.stack(columns, dim=1), kappa_BK
