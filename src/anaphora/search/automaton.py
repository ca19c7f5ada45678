"""Automaton over many rows of tokens, which the outputs of a search end with or begin (Aho and Corasick 1975)."""

from collections import defaultdict, deque
from collections.abc import Sequence

import torch
from torch import Tensor

Form = tuple[int, ...]
"""The tokens of one form of a term."""

STRIDE = 1 << 24
"""More than any number of tokens."""


class Automaton:
    """Nodes are prefixes of forms, 0 the empty one; a node stands for the longest that the last tokens of a row end."""

    def __init__(self, required: Sequence[Sequence[Form]], forbidden: Sequence[Form]) -> None:
        self._children: list[dict[int, int]] = [{}]
        self._depths = [0]
        through, ends, barred = (defaultdict[int, set[int]](set) for _ in range(3))
        for g, forms in enumerate(required):
            for path in map(self._add, forms):
                ends[path[-1]].add(g)
                for node in path:
                    through[node].add(g)
        for f, form in enumerate(forbidden):
            barred[self._add(form)[-1]].add(f)
        chains = self._chains()
        self._ends_QG = torch.zeros(len(chains), len(required), dtype=torch.bool)
        self._begun_QG = torch.zeros(len(chains), len(required), dtype=torch.int64)
        edges: dict[int, int] = {}
        going_on, ending = list[tuple[int, int, int, int]](), list[tuple[int, int, int]]()
        for node, chain in enumerate(chains):
            for other in chain:  # the shortest first, so that the longest has the last word
                self._ends_QG[node, list(ends[other])] = True
                self._begun_QG[node, list(through[other])] = self._depths[other]
                for token, child in self._children[other].items():
                    edges[node * STRIDE + token] = child
                    going_on += ((node, token, self._depths[other], g) for g in through[child])
        for key, child in edges.items():
            for other in chains[child]:
                ending += ((key // STRIDE, key % STRIDE, f) for f in barred[other])
        keys = sorted(edges)
        self._keys_E = torch.tensor(keys, dtype=torch.int64)
        self._next_E = torch.tensor([edges[key] for key in keys], dtype=torch.int64)
        self._going_on = torch.tensor(going_on, dtype=torch.int64).reshape(-1, 4).T
        self._ending = torch.tensor(ending, dtype=torch.int64).reshape(-1, 3).T

    def after(self, nodes_N: Tensor, ids_N: Tensor) -> Tensor:
        """Return the nodes after one more token of each row."""
        keys_E, next_E = self._keys_E.to(ids_N.device), self._next_E.to(ids_N.device)
        keys_N = nodes_N * STRIDE + ids_N
        places_N = torch.searchsorted(keys_E, keys_N).clamp(max=len(keys_E) - 1)
        return torch.where(keys_E[places_N] == keys_N, next_E[places_N], 0)

    def ends(self, nodes_N: Tensor) -> Tensor:
        """bool [N, G]: whether a form of the term ends there."""
        return self._ends_QG.to(nodes_N.device)[nodes_N]

    def progress(self, nodes_N: Tensor) -> Tensor:
        """int64 [N, G]: how many tokens of a form of the term the row ends with."""
        return self._begun_QG.to(nodes_N.device)[nodes_N]

    def going_on(self, device: torch.device) -> Tensor:
        """Node, token, number of tokens before it, term: each token that continues a form of a term."""
        return self._going_on.to(device)

    def ending_forbidden(self, device: torch.device) -> Tensor:
        """Node, token, form: each token that ends a forbidden form."""
        return self._ending.to(device)

    def _add(self, form: Form) -> list[int]:
        """Return the nodes of the prefixes of a form, from the empty one."""
        path = [0]
        for token in form:
            if token not in self._children[path[-1]]:
                self._children[path[-1]][token] = len(self._children)
                self._children.append({})
                self._depths.append(len(path))
            path.append(self._children[path[-1]][token])
        return path

    def _chains(self) -> list[list[int]]:
        """For each node, those whose tokens it ends with, the empty one first and itself last."""
        chains: list[list[int]] = [[0]] + [[] for _ in self._children[1:]]
        waiting = deque([0])
        while waiting:
            node = waiting.popleft()
            for token, child in self._children[node].items():
                shorter = (self._children[other].get(token, 0) for other in chains[node][:-1])
                chains[child] = [0, *filter(None, shorter), child]
                waiting.append(child)
        return chains
