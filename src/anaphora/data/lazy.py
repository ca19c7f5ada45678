"""Sequences whose items are made when they are looked up."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

Place = TypeVar("Place")
Item = TypeVar("Item")


class LazySequence(Sequence[Item], Generic[Place, Item]):
    """Items that are made when they are looked up, so that any position is as cheap as the first."""

    def __init__(self, places: Sequence[Place], make: Callable[[Place], Item]) -> None:
        """``make`` turns each of the ``places`` into its item."""
        self.places = places
        self._make = make

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, position: int) -> Item: ...
    @overload
    def __getitem__(self, position: slice) -> "LazySequence[Place, Item]": ...
    def __getitem__(self, position: int | slice) -> "Item | LazySequence[Place, Item]":
        if isinstance(position, slice):
            return LazySequence(self.places[position], self._make)
        return self._make(self.places[position])
