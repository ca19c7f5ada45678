"""Words looked up as they are written, or else without regard to case."""

from collections.abc import Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Lookup(Generic[Value]):
    """Entries of a table by word, in any case.

    Dictionaries and translators write words in cases of their own: one learnt from lower-cased text has ``hund`` for
    the ``Hund`` of the other.
    """

    def __init__(self, table: Mapping[str, Value]) -> None:
        """``table`` by words; of those that differ in their case alone, the first stands for all others."""
        self._table = table
        self._lower: dict[str, Value] = {}
        for word, value in table.items():
            self._lower.setdefault(word.lower(), value)

    def exact(self, word: str) -> Value | None:
        """Return the entry of the word as it is written, or None."""
        return self._table.get(word)

    def find(self, word: str) -> Value | None:
        """Return the entry of the word as it is written, or in any case; or None."""
        found = self.exact(word)
        return self._lower.get(word.lower()) if found is None else found
