"""Automaton over many rows of tokens, which the outputs of a search end with or begin (Aho and Corasick 1975)."""

from collections import defaultdict, deque
from collections.abc import Sequence

import numpy as np

from anaphora.protocols import Array

Form = tuple[int, ...]
"""The tokens of one form of a term."""

STRIDE = 1 << 24
"""More than any number of tokens."""


class Automaton:
    """Nodes are prefixes of forms, 0 the empty one; a node stands for the longest that the last tokens of a row end."""

    def __init__(self, required: Sequence[Sequence[Form]], forbidden: Sequence[Form]) -> None:
        self._children: list[dict[int, int]] = [{}]
        self._depths = [0]
        through, barred = (defaultdict[int, set[int]](set) for _ in range(2))
        for g, forms in enumerate(required):
            for path in map(self._add, forms):
                for node in path:
                    through[node].add(g)
        for f, form in enumerate(forbidden):
            barred[self._add(form)[-1]].add(f)
        chains = self._chains()
        self._begun_QG = np.zeros((len(chains), len(required)), dtype=np.int64)
        edges: dict[int, int] = {}
        going_on, ending = list[tuple[int, int, int, int]](), list[tuple[int, int, int]]()
        for node, chain in enumerate(chains):
            for other in chain:  # the shortest first, so that the longest has the last word
                self._begun_QG[node, list(through[other])] = self._depths[other]
                for token, child in self._children[other].items():
                    edges[node * STRIDE + token] = child
                    going_on += ((node, token, self._depths[other], g) for g in through[child])
        for key, child in edges.items():
            for other in chains[child]:
                ending += ((key // STRIDE, key % STRIDE, f) for f in barred[other])
        keys = sorted(edges)
        self._keys_E = np.array(keys, dtype=np.int64)
        self._next_E = np.array([edges[key] for key in keys], dtype=np.int64)
        self.going_on = np.array(going_on, dtype=np.int64).reshape(-1, 4).T
        """Node, token, number of tokens before it, term: each token that continues a form of a term."""
        self.ending_forbidden = np.array(ending, dtype=np.int64).reshape(-1, 3).T
        """Node, token, form: each token that ends a forbidden form."""

    def after(self, nodes_N: Array, ids_N: Array) -> Array:
        """Return the nodes after one more token of each row."""
        keys_N = nodes_N * STRIDE + ids_N
        places_N = np.minimum(self._keys_E.searchsorted(keys_N), len(self._keys_E) - 1)
        return np.where(self._keys_E[places_N] == keys_N, self._next_E[places_N], 0)

    def progress(self, nodes_N: Array) -> Array:
        """int64 [N, G]: how many tokens of a form of the term the row ends with."""
        found: Array = self._begun_QG[nodes_N]
        return found

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
