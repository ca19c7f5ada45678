"""Random draws that are the same on every machine, and splits of a corpus that is drawn."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from anaphora.errors import ConfigError

Item = TypeVar("Item")


class Draws:
    """A seeded stream of draws, made of ``random.Random.random`` alone."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed).random

    def happens(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def uniform(self, low: float, high: float) -> float:
        """Return a number between two, all equally likely."""
        return low + (high - low) * self._random()

    def normal(self) -> float:
        """Nearly standard normal: a sum of twelve uniform draws."""
        return sum(self._random() for _ in range(12)) - 6

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items, all equally likely."""
        return items[int(self._random() * len(items))]


class Splits(NamedTuple, Generic[Item]):
    """The three splits of a corpus."""

    train: list[Item]
    valid: list[Item]
    test: list[Item]


def splits(stream: Callable[[str], Iterator[Item]], train: int, valid: int, test: int) -> Splits[Item]:
    """Return the first items of the stream of each split; raise ConfigError for a negative size."""
    sizes = {"train": train, "valid": valid, "test": test}
    for name, size in sizes.items():
        if size < 0:
            raise ConfigError(f"A split must have 0 items or more, but {name} = {size}.")
    return Splits(*(list(islice(stream(name), size)) for name, size in sizes.items()))
