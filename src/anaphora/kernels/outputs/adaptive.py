"""A small softmax for frequent words and ever narrower ones for rare words (Grave et al. 2017).

Words are counted from the most frequent on. The head knows the first of them and one entry for each tail; tail i has a
projection to fewer numbers, P_i, and the words from one cutoff to the next:

    1  L = -log softmax(A h + a)_j                           j: the word itself, or the entry of its tail i
    2  u = P_i h
    3  L -= log softmax(B_i u + b_i)_y                       y: the word's place in its tail

1 and 3 with their gradients are those of ``softmax.py``, for 3 over the rows whose words are in the tail.

    2' dh += P_i' du,  dP_i = sum_n du_n h_n'
"""

from itertools import pairwise

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.softmax import Gradients, cross_entropy
from anaphora.kernels.tensor_backends import prepare
from anaphora.shapes import check_shapes

TAIL = 3
"""Tensors of a tail: P_i, B_i, b_i."""


def adaptive_loss(
    hidden_NH: Tensor,
    head: tuple[Tensor, Tensor],
    tails: tuple[tuple[Tensor, Tensor, Tensor], ...],
    ranks_N: Tensor,
    cutoffs: tuple[int, ...],
    weights_N: Tensor | None = None,
) -> Tensor:
    """Return the summed -ln p of words given by their rank, 0 for the most frequent.

    Raises ShapeError where the sizes do not agree.

    Args:
        hidden_NH: the states to predict from.
        head: A and a; every bias may be a tensor of no elements, for none.
        tails: P_i, B_i and b_i of every tail.
        ranks_N: int64, the ranks of the right words.
        cutoffs: the first rank of every tail, and after them V.
        weights_N: what each row's loss is multiplied by; 1 where there are none.
    """
    check_shapes(hidden_NH=hidden_NH, head_CH=head[0], ranks_N=ranks_N)

    def derive(
        recording: bool, hidden_NH: Tensor, head_CH: Tensor, head_C: Tensor, *of_tails: Tensor
    ) -> tuple[Tensor, Gradients]:
        first_N = torch.where(ranks_N < cutoffs[0], ranks_N, 0)
        for i, (low, high) in enumerate(pairwise(cutoffs)):
            first_N = torch.where((ranks_N >= low) & (ranks_N < high), cutoffs[0] + i, first_N)
        loss, gradients = cross_entropy(recording, hidden_NH, head_CH, head_C, first_N, weights_N)  # 1
        for i, (low, high) in enumerate(pairwise(cutoffs)):
            P, B, b = of_tails[TAIL * i : TAIL * (i + 1)]
            rows = ((ranks_N >= low) & (ranks_N < high)).nonzero().squeeze(1)
            if not len(rows):
                gradients += tuple(torch.zeros_like(tensor) for tensor in (P, B, b)) if recording else ()
                continue
            h, projection = hidden_NH[rows], prepare(P)
            u = projection.times(h)  # 2
            w = None if weights_N is None else weights_N[rows]
            more, of_tail = cross_entropy(recording, u, B, b, ranks_N[rows] - low, w)  # 3
            loss += more
            if recording:
                du, dB, db = of_tail
                gradients[0][rows] += projection.back(du)  # 2'
                gradients += (projection.outer(du, h), dB, db)
        return loss, gradients

    return derived_loss(derive, hidden_NH, *head, *(tensor for tail in tails for tensor in tail))


def adaptive_log_probs(head_logits_NV: Tensor, tail_logits: tuple[Tensor, ...]) -> Tensor:
    """ln p of every word by rank, N x V, from the logits of the head and of every tail."""
    head_NV = torch.log_softmax(head_logits_NV, -1)
    shortlist = head_NV.shape[1] - len(tail_logits)
    tails = [torch.log_softmax(z, -1) + head_NV[:, shortlist + i, None] for i, z in enumerate(tail_logits)]
    return torch.cat([head_NV[:, :shortlist], *tails], 1)
