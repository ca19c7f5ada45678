"""Positions of a sentence's tags in its translation, by the attention of the model as it wrote each token.

A pair of tags goes around the tokens that looked at what it encloses: of all runs of whole words, that with the
greatest sum of attention inside less attention outside. A single tag goes where the attention crosses it least. A pair
inside another stays inside it and no two overlap, so that what was well nested still is. Without attention, a token is
taken to have looked at what stands as far into the source as it does into the translation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anaphora.text.masking import Tag

Weights = npt.NDArray[np.floating[Any]]

_SHARPNESS = 8.0
"""Decay of the assumed attention with distance, for models that have none: a factor e for each eighth of the text."""

_LEAST = 1e-2
"""Attention that every token has on every other."""
_NEARNESS = 4.0
"""Decay of the weight of attention with distance: a factor e for each quarter of the text."""
_ROUNDS = 10
"""Steps of the balancing."""


class Put(NamedTuple):
    """A tag, by its number, and the boundary that it goes to: that in front of this target token."""

    boundary: int
    tag: int


@dataclass
class _Node:
    """A single tag, or a pair and what it encloses."""

    opening: int
    closing: int
    children: list["_Node"] = field(default_factory=list)


def put_tags(tags: Sequence[Tag], before: Sequence[int], weights_TS: Weights, boundaries: Sequence[int]) -> list[Put]:
    """The tags in their new order, each with one of ``boundaries``, which ascend.

    ``before`` counts the source tokens in front of each tag; weights are those of the tokens without ``</s>``.
    """
    return list(_Places(before, weights_TS, boundaries).put(_nested(tags), boundaries[0], boundaries[-1]))


def diagonal(target: int, source: int) -> Weights:
    """The weights of so many tokens where a model has none."""
    weights_TS = np.exp(-_SHARPNESS * _distance(target, source))
    return np.asarray(weights_TS / weights_TS.sum(axis=1, keepdims=True))


def _distance(target: int, source: int) -> Weights:
    """Return how much further one token is into its text than another, as a fraction of the texts."""
    places_T, places_S = ((np.arange(length) + 0.5) / max(1, length) for length in (target, source))
    return np.asarray(np.abs(places_T[:, None] - places_S))


def balanced(weights_TS: Weights) -> Weights:
    """Weights of which every source token has its part, those that few look at too (Sinkhorn and Knopp 1967).

    An article looks at its noun, whose gender it has; nothing else looks at the article of the source. What is as far
    into the source as a token into the translation counts for more.
    """
    distance_TS = _distance(*weights_TS.shape)
    weights_TS = (np.sqrt(weights_TS.astype(np.float64)) + _LEAST) * np.exp(-_NEARNESS * distance_TS)
    for _ in range(_ROUNDS):
        weights_TS = weights_TS / weights_TS.sum(axis=0, keepdims=True)
        weights_TS = weights_TS / weights_TS.sum(axis=1, keepdims=True)
    return weights_TS


def _nested(tags: Sequence[Tag]) -> list[_Node]:
    """Pairs with what they enclose; tags without a partner are single."""
    levels: list[list[_Node]] = [[]]
    for number, tag in enumerate(tags):
        if 0 <= tag.partner < number:
            levels.pop()
            continue
        node = _Node(number, max(number, tag.partner))
        levels[-1].append(node)
        if tag.partner > number:
            levels.append(node.children)
    return levels[0]


class _Places:
    def __init__(self, before: Sequence[int], weights_TS: Weights, boundaries: Sequence[int]) -> None:
        self._before, self._boundaries = before, np.asarray(boundaries)
        # attention on the first s source tokens, summed over the first t target tokens
        self._sums = np.zeros((weights_TS.shape[0] + 1, weights_TS.shape[1] + 1))
        self._sums[1:, 1:] = weights_TS.astype(np.float64).cumsum(axis=0).cumsum(axis=1)

    def put(self, nodes: Sequence[_Node], low: int, high: int) -> Iterable[Put]:
        """The tags of ``nodes``, between two boundaries."""
        found: list[tuple[int, int, int]] = []
        taken: list[tuple[int, int]] = []
        for number, node in enumerate(nodes):
            if self._before[node.opening] < self._before[node.closing]:
                place = self._run(node, _free(taken, low, high))
                if place is not None:
                    taken.append(place)
                    found.append((*place, number))
        for number, node in enumerate(nodes):
            if number not in {other for *_, other in found}:
                point = self._point(self._before[node.opening], _free(taken, low, high))
                found.append((point, point, number))
        for begin, end, number in sorted(found):
            node = nodes[number]
            yield Put(begin, node.opening)
            yield from self.put(node.children, begin, end)
            if node.closing != node.opening:
                yield Put(end, node.closing)

    def _run(self, node: _Node, free: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
        """The run that a pair encloses; None where there is no token left."""
        sums_T = self._sums[:, self._before[node.closing]] - self._sums[:, self._before[node.opening]]
        values_T = 2 * sums_T - self._sums[:, -1]
        best: tuple[float, int, int] | None = None
        for low, high in free:
            own = self._within(low, high)
            if len(own) < 2:
                continue
            lowest = np.minimum.accumulate(values_T[own[:-1]])
            end = int(np.argmax(values_T[own[1:]] - lowest))
            begin = int(np.argmin(values_T[own[: end + 1]]))
            gain = float(values_T[own[end + 1]] - lowest[end])
            if best is None or gain > best[0]:
                best = gain, int(own[begin]), int(own[end + 1])
        return best and (best[1], best[2])

    def _point(self, before: int, free: Iterable[tuple[int, int]]) -> int:
        """The boundary across which tokens look least."""
        left_T, all_T = self._sums[:, before], self._sums[:, -1]
        crossing_T = (all_T - left_T) + (left_T[-1] - left_T)
        own = np.concatenate([self._within(low, high) for low, high in free])
        return int(own[np.argmin(crossing_T[own])])

    def _within(self, low: int, high: int) -> npt.NDArray[np.int64]:
        return self._boundaries[(self._boundaries >= low) & (self._boundaries <= high)]


def _free(taken: Iterable[tuple[int, int]], low: int, high: int) -> Iterable[tuple[int, int]]:
    """Yield the stretches left between two boundaries, those of what is taken included."""
    for begin, end in sorted(taken):
        yield low, begin
        low = end
    yield low, high
