"""Random draws that are the same on every machine: made of ``random.Random.random`` alone."""

import random
from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Weighted(Generic[Item]):
    """Items with weights to draw by."""

    def __init__(self, weights: Mapping[Item, float]) -> None:
        self.items = tuple(weights)
        self.bounds = tuple(accumulate(weights.values()))


class Draws:
    """A seeded stream of draws."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def within(self, low: float, high: float) -> float:
        """A number between two, all equally likely."""
        return low + (high - low) * self._random()

    def normal(self) -> float:
        """Nearly standard normal: a sum of twelve uniform draws."""
        return sum(self._random() for _ in range(12)) - 6

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[int(self._random() * len(items))]

    def weighted(self, choice: Weighted[Item]) -> Item:
        """One of the items by its weight."""
        return choice.items[bisect(choice.bounds, self._random() * choice.bounds[-1], 0, len(choice.items) - 1)]
