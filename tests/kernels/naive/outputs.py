"""The second reading of ``outputs/``: one word after another, as in the papers, with autograd for the gradients.

Where ``outputs/`` groups rows, walks flat arrays and adds up products, here stands one row and its probabilities.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise, product

import torch
from torch import Tensor

from tests.kernels.naive.losses import softmax


def sum_weighted(
    loss: Callable[[Tensor, int], Tensor], hidden_NH: Tensor, targets_N: Tensor, weights_N: Tensor
) -> Tensor:
    """Return the loss of every row times its weight, summed."""
    rows = zip(hidden_NH, targets_N.tolist(), weights_N, strict=True)
    return torch.stack([weight * loss(h_H, y) for h_H, y, weight in rows]).sum()


def class_factored(
    h_H: Tensor, classes_CH: Tensor, class_bias_C: Tensor, weight_VH: Tensor, bias_V: Tensor, class_V: Tensor
) -> Tensor:
    """p(v) = p(c(v)) p(v | c(v)) of every word (Goodman 2001)."""
    p_C = softmax(classes_CH @ h_H + class_bias_C)
    p = []
    for v, c in enumerate(class_V.tolist()):
        among = softmax((weight_VH @ h_H + bias_V)[class_V == c])
        p.append(p_C[c] * among[int((class_V[:v] == c).sum())])
    return torch.stack(p)


def hierarchical(h_H: Tensor, nodes_IH: Tensor, bias_I: Tensor, paths: Sequence[Sequence[tuple[int, int]]]) -> Tensor:
    """p(v) = prod_n sigm(s_n (w_n' h + b_n)) of every word, whose path is (n, s_n), .. (Morin and Bengio 2005)."""
    p = []
    for path in paths:
        turns = [1 / (1 + torch.exp(-sign * (nodes_IH[n] @ h_H + bias_I[n]))) for n, sign in path]
        p.append(torch.stack(turns).prod())
    return torch.stack(p)


def sampled_softmax(
    h_H: Tensor, y: int, weight_VH: Tensor, bias_V: Tensor, words: Sequence[int], drawn_V: Tensor
) -> Tensor:
    """-ln of the share that y has of sum_v exp(w_v' h + b_v) / Q(v), v running over the words and y itself."""
    shares = {v: torch.exp(weight_VH[v] @ h_H + bias_V[v]) / drawn_V[v] for v in {*words, y}}
    return -torch.log(shares[y] / torch.stack(list(shares.values())).sum())


def noise_contrastive(
    h_H: Tensor, y: int, weight_VH: Tensor, bias_V: Tensor, noise: Sequence[int], q_V: Tensor
) -> Tensor:
    """-ln p(right | y) - sum of ln p(noise | v) over every drawn v (Mnih and Teh 2012, equations 7 and 8)."""

    def right(v: int) -> Tensor:
        p = torch.exp(weight_VH[v] @ h_H + bias_V[v])
        return p / (p + len(noise) * q_V[v])

    return -torch.log(right(y)) - torch.stack([torch.log(1 - right(v)) for v in noise]).sum()


def adaptive(h_H: Tensor, head: tuple[Tensor, Tensor], tails: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """p of every word by rank: in the head, or in the head the tail and in the tail the word (Grave et al. 2017)."""
    p_head = softmax(head[0] @ h_H + head[1])
    shortlist = len(p_head) - len(tails)
    of_tails = [p_head[shortlist + i] * softmax(B @ (P @ h_H) + b) for i, (P, B, b) in enumerate(tails)]
    return torch.cat([p_head[:shortlist], *of_tails])


def linear_chain(
    emissions_TC: Tensor, transitions_CC: Tensor, first_C: Tensor, last_C: Tensor
) -> dict[tuple[int, ...], Tensor]:
    """p of every sequence of tags of one sentence, by all of them written out (Lafferty et al. 2001)."""
    steps, tags = emissions_TC.shape
    scores: dict[tuple[int, ...], Tensor] = {}
    for sequence in product(range(tags), repeat=steps):
        score = first_C[sequence[0]] + last_C[sequence[-1]]
        score = score + torch.stack([emissions_TC[t, y] for t, y in enumerate(sequence)]).sum()
        for before, after in pairwise(sequence):
            score = score + transitions_CC[before, after]
        scores[sequence] = score
    log_z = torch.logsumexp(torch.stack(list(scores.values())), 0)
    return {sequence: torch.exp(score - log_z) for sequence, score in scores.items()}


def pointer_generator(p_V: Tensor, gate: Tensor, weights_S: Tensor, source: Sequence[int]) -> Tensor:
    """g P(w) + (1 - g) times the attention on every w of the source (See et al. 2017, equation 9)."""
    g = 1 / (1 + torch.exp(-gate))
    copied = [sum((a for a, x in zip(weights_S, source, strict=True) if x == w), 0 * gate) for w in range(len(p_V))]
    return g * p_V + (1 - g) * torch.stack(copied)


def hard_alignments(
    emissions_TS: Tensor, scores_TS: Tensor, jumps_TJ: Tensor | None, monotonic: bool
) -> dict[tuple[int, ...], Tensor]:
    """p of the output together with each alignment, by all of them written out (Wu and Cotterell 2019)."""
    steps, positions = scores_TS.shape
    found: dict[tuple[int, ...], Tensor] = {}
    for alignment in product(range(positions), repeat=steps):
        p, before = torch.ones((), dtype=scores_TS.dtype), 0
        for t, j in enumerate(alignment):
            scores = {}
            for i in range(before if monotonic else 0, positions):
                scores[i] = torch.exp(scores_TS[t, i])
                if jumps_TJ is not None:
                    farthest = len(jumps_TJ[t]) - 1 if monotonic else len(jumps_TJ[t]) // 2
                    jump = max(-farthest, min(i - before, farthest)) + (0 if monotonic else farthest)
                    scores[i] = scores[i] * torch.exp(jumps_TJ[t, jump])
            if j not in scores:
                p = 0 * p
                break
            p = p * scores[j] / sum(scores.values()) * torch.exp(emissions_TS[t, j])
            before = j
        found[alignment] = p
    return found
