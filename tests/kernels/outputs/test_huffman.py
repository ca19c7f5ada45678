"""The tree of Huffman: every word has a path, no other tree has shorter ones on average."""

import heapq

import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.kernels.outputs.hierarchical import huffman_tree

MASSES = st.lists(st.integers(1, 1000), min_size=2, max_size=40)


def paths(masses: list[int]) -> list[tuple[tuple[int, int], ...]]:
    tree = huffman_tree(masses)
    steps = list(zip(tree.nodes_P.tolist(), tree.signs_P.tolist(), strict=True))
    found = zip(tree.starts_V.tolist(), tree.lengths_V.tolist(), strict=True)
    return [tuple(steps[start : start + length]) for start, length in found]


@given(MASSES)
def test_every_way_starts_at_the_root_and_leads_to_a_leaf_of_its_own(masses: list[int]) -> None:
    found = paths(masses)
    assert len(set(found)) == len(masses)
    assert all(path[0][0] == 0 and {sign for _, sign in path} <= {1, -1} for path in found)
    assert not any(a != b and a == b[: len(a)] for a in found for b in found)
    assert {node for path in found for node, _ in path} == set(range(len(masses) - 1))
    assert sum(0.5 ** len(path) for path in found) == 1


@given(MASSES)
def test_the_ways_are_as_short_on_average_as_any(masses: list[int]) -> None:
    heap, cost = list(masses), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        cost += merged
        heapq.heappush(heap, merged)
    assert sum(mass * len(path) for mass, path in zip(masses, paths(masses), strict=True)) == cost


@given(MASSES)
def test_inner_nodes_are_numbered_level_by_level(masses: list[int]) -> None:
    depth = {node: place for path in paths(masses) for place, (node, _) in enumerate(path)}
    assert [depth[node] for node in range(len(masses) - 1)] == sorted(depth.values())


def test_the_tree_of_given_counts_is_the_same_for_ever() -> None:
    # stored runs know what their weights mean by this alone
    tree = huffman_tree([3, 1, 1, 9, 2, 2, 3])
    assert tree.lengths_V.tolist() == [3, 4, 4, 1, 4, 4, 3]
    assert tree.leaf_V.tolist() == [5, 8, 9, 0, 10, 11, 6]
    assert tree.nodes_P.tolist()[:7] == [0, 1, 2, 0, 1, 2, 4]
    assert tree.signs_P.dtype == torch.int8
