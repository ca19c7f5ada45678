"""Words looked up as they are written, or else without regard to case."""

from collections.abc import Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Lookup(Generic[Value]):
    """What a table has for a word.

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
        """What the word has as it is written; None where it has nothing."""
        return self._table.get(word)

    def find(self, word: str) -> Value | None:
        """What the word has as it is written, or in any case; None where it has nothing."""
        found = self.exact(word)
        return self._lower.get(word.lower()) if found is None else found
