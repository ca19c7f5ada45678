"""Random draws that are the same on every machine: made of ``random.Random.random`` alone."""

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Draws:
    """A seeded stream of draws."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def within(self, low: float, high: float) -> float:
        """Return a number between two, all equally likely."""
        return low + (high - low) * self._random()

    def normal(self) -> float:
        """Nearly standard normal: a sum of twelve uniform draws."""
        return sum(self._random() for _ in range(12)) - 6

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[int(self._random() * len(items))]
