"""The binary tree whose paths are shortest on average (Huffman 1952): frequent words stand near the root."""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.kernels.outputs.hierarchical import Tree


def huffman_tree(masses: Sequence[int], device: torch.device | None = None) -> Tree:
    """The tree over two words or more, by how often each is met; of equal masses the lower number is merged first.

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
