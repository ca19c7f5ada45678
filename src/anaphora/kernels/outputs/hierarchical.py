"""A tree of decisions in the place of a softmax (Morin and Bengio 2005): a word is a path from the root to a leaf.

Every inner node n has a vector and a bias. On the path to word y, s_n is +1 where it turns left at n and -1 where
right:

    1  z_n = w_n' h + b_n
    2  L = sum_n -log sigm(s_n z_n) = sum_n log(1 + exp(-s_n z_n))          over the nodes on the path to y
    2' dz_n = -s_n sigm(-s_n z_n)
    1' dh = sum_n dz_n w_n,  dw_n += dz_n h,  db_n += dz_n

Left and right share 1 at every node, so the probabilities of all leaves sum to 1. Only the nodes on the paths
to the targets are looked at: with a Huffman tree, about as many a word as its coding takes bits.
"""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.softmax import CHUNK, Gradients
from anaphora.shapes import check_shapes


class Tree(NamedTuple):
    """A binary tree with the words as leaves and V - 1 inner nodes, which are numbered level by level from the root."""

    levels: tuple[Tensor, ...]
    """Of every level but the lowest: where the inner nodes stand in it. The next level is their children, the two of
    one parent side by side, left first."""
    leaf_V: Tensor
    """Place of every word among all nodes but the root, level by level."""
    starts_V: Tensor
    """Beginning of the path to every word in ``nodes_P``."""
    lengths_V: Tensor
    """Nodes on the path to every word."""
    nodes_P: Tensor
    """The paths to all words, one after the other: the inner nodes from the root on."""
    signs_P: Tensor
    """int8: +1 where a path turns left, -1 where right."""


def hierarchical_loss(
    hidden_NH: Tensor, nodes_IH: Tensor, bias_I: Tensor, targets_N: Tensor, tree: Tree, weights_N: Tensor | None = None
) -> Tensor:
    """Return the summed -ln p of ``targets_N``; ``bias_I`` may be a tensor of no elements, for none.

    Raises ShapeError where the sizes do not agree.
    """
    check_shapes(hidden_NH=hidden_NH, nodes_IH=nodes_IH, targets_N=targets_N)
    derive = partial(_derive, targets_N, tree, weights_N)
    return derived_loss(derive, hidden_NH, nodes_IH, bias_I)


def _derive(
    targets_N: Tensor, tree: Tree, weights_N: Tensor | None, recording: bool, *leaves: Tensor
) -> tuple[Tensor, Gradients]:
    hidden_NH, nodes_IH, bias_I = leaves
    dhidden_NH, dnodes_IH, dbias_I = (torch.zeros_like(leaf) if recording else leaf for leaf in leaves)
    loss = torch.zeros((), dtype=torch.float64, device=hidden_NH.device)
    rows = max(1, CHUNK // (int(tree.lengths_V.max()) * nodes_IH.shape[1]))
    for start in range(0, len(targets_N), rows):
        h, y = hidden_NH[start : start + rows], targets_N[start : start + rows]
        # all steps of all paths: one P after the other, of row_P
        lengths, begins = tree.lengths_V[y], tree.starts_V[y]
        row_P = torch.repeat_interleave(lengths)
        bag_N = lengths.cumsum(0) - lengths
        place_P = torch.arange(len(row_P), device=y.device) + (begins - bag_N)[row_P]
        node_P, sign_P = tree.nodes_P[place_P], tree.signs_P[place_P].to(h.dtype)
        z_P = torch.linalg.vecdot(h[row_P], nodes_IH[node_P])  # 1
        if bias_I.numel():
            z_P += bias_I[node_P]
        w_P = 1 if weights_N is None else weights_N[start : start + rows][row_P]
        loss += (w_P * functional.softplus(-sign_P * z_P)).sum(dtype=torch.float64)  # 2
        if recording:
            dz_P = -sign_P * torch.sigmoid(-sign_P * z_P) * w_P  # 2'
            dhidden_NH[start : start + rows] = functional.embedding_bag(  # 1'
                node_P, nodes_IH, bag_N, mode="sum", per_sample_weights=dz_P
            )
            dnodes_IH.index_add_(0, node_P, dz_P[:, None] * h[row_P])
            if bias_I.numel():
                dbias_I.index_add_(0, node_P, dz_P)
    return loss, (dhidden_NH, dnodes_IH, dbias_I) if recording else ()


def hierarchical_log_probs(logits_NI: Tensor, tree: Tree) -> Tensor:
    """ln p of every word, N x V, from z of the V - 1 inner nodes: down the tree, level by level."""
    left_NI, right_NI = functional.logsigmoid(logits_NI), functional.logsigmoid(-logits_NI)
    above_NL = logits_NI.new_zeros(len(logits_NI), 1)
    levels, first = [], 0
    for inner_L in tree.levels:
        here = slice(first, first + len(inner_L))
        turned_NL2 = torch.stack([left_NI[:, here], right_NI[:, here]], 2)
        above_NL = (above_NL[:, inner_L, None] + turned_NL2).flatten(1)
        levels.append(above_NL)
        first = here.stop
    return torch.cat(levels, 1)[:, tree.leaf_V]
