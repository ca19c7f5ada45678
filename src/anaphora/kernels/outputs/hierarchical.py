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

from collections.abc import Sequence
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
    """Places of the inner nodes in every level but the lowest. The next level is their children, the two of
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

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, Gradients]:
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

    return derived_loss(derive, hidden_NH, nodes_IH, bias_I)


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


def huffman_tree(masses: Sequence[int], device: torch.device | None = None) -> Tree:
    """Return the tree whose paths are shortest on average (Huffman 1952), by how often each is met.

    There are two words or more. Of equal masses the lower number is merged first.

    It is made on the processor, and lies on ``device``.
    """
    levels, leaves = _levels(_merge(masses), len(masses))
    widths = [2 * len(inner_L) for inner_L in levels]
    begins = torch.tensor([0, *widths]).cumsum(0)  # of the levels below the root, among all nodes but the root
    nodes = int(begins[-1])
    parent_A, sign_A = torch.arange(nodes) // 2, 1 - 2 * (torch.arange(nodes) % 2)  # of all nodes but the root
    above = [torch.full((widths[0],), -1)]  # where the parent of each stands among them; the root does not
    above += [begin + inner_L.repeat_interleave(2) for begin, inner_L in zip(begins, levels[1:], strict=False)]
    leaf_V = torch.tensor(leaves)
    lengths_V = torch.searchsorted(begins, leaf_V, right=True)
    starts_V = lengths_V.cumsum(0) - lengths_V
    nodes_P = torch.empty(int(lengths_V.sum()), dtype=torch.int64)
    signs_P = torch.empty(len(nodes_P), dtype=torch.int8)
    place_W, slot_W, above_A = leaf_V, starts_V + lengths_V - 1, torch.cat(above)
    while len(place_W):  # all words climb together, and those at the root drop out
        nodes_P[slot_W], signs_P[slot_W] = parent_A[place_W], sign_A[place_W].to(torch.int8)
        up_W = above_A[place_W]
        place_W, slot_W = up_W[up_W >= 0], slot_W[up_W >= 0] - 1
    rest = (tensor.to(device) for tensor in (leaf_V, starts_V, lengths_V, nodes_P, signs_P))
    return Tree(tuple(inner_L.to(device) for inner_L in levels), *rest)


def _merge(masses: Sequence[int]) -> list[tuple[int, int]]:
    """The children of every inner node in the order of merging, the root last; inner node i has the number V + i.

    Merged nodes come in ascending order of mass, so the lightest two stand at the heads of two queues.
    """
    size = len(masses)
    leaves = sorted(range(size), key=lambda word: (masses[word], word))
    inner: list[int] = []
    children: list[tuple[int, int]] = []
    leaf = merged = 0

    def lightest() -> tuple[int, int]:
        nonlocal leaf, merged
        if leaf < size and (merged == len(inner) or masses[leaves[leaf]] <= inner[merged]):
            leaf += 1
            return leaves[leaf - 1], masses[leaves[leaf - 1]]
        merged += 1
        return size + merged - 1, inner[merged - 1]

    for _ in range(size - 1):
        (left, left_mass), (right, right_mass) = lightest(), lightest()
        children.append((left, right))
        inner.append(left_mass + right_mass)
    return children


def _levels(children: list[tuple[int, int]], size: int) -> tuple[tuple[Tensor, ...], list[int]]:
    """``Tree.levels`` and ``Tree.leaf_V``."""
    level, leaves, seen = [2 * size - 2], [0] * size, 0
    levels: list[Tensor] = []
    while True:
        inner = [place for place, node in enumerate(level) if node >= size]
        if not inner:
            return tuple(levels), leaves
        level = [child for place in inner for child in children[level[place] - size]]
        for place, node in enumerate(level, seen):
            if node < size:
                leaves[node] = place
        seen += len(level)
        levels.append(torch.tensor(inner))
